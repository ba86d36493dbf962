from pathlib import Path

import pytest

from heedful.spec.errors import UserError
from heedful.store.tracking_file import NAME, Tracked, read_tracked, write_tracked


def test_what_is_written_is_read_and_what_others_know_is_kept(tmp_path: Path) -> None:
    assert read_tracked(tmp_path, "wandb") is None
    write_tracked(tmp_path, "wandb", Tracked("abc", 3))
    write_tracked(tmp_path, "other", Tracked("def"))
    write_tracked(tmp_path, "wandb", Tracked("abc", 7))
    assert read_tracked(tmp_path, "wandb") == Tracked("abc", 7)
    assert read_tracked(tmp_path, "other") == Tracked("def", -1)


@pytest.mark.parametrize("text", ["{", "[]", '{"wandb": 3}', '{"wandb": {"id": "a", "step": 1, "x": 2}}'])
def test_a_damaged_file_is_one_line_with_the_remedy(text: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(text)
    with pytest.raises(
        UserError, match="tracking.json.*delete it; the tracker then shows the run as a new one"
    ):
        read_tracked(tmp_path, "wandb")
