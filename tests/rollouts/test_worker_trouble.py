from operator import methodcaller
from pathlib import Path

import pytest

from heedful.rollouts.pool import Pool
from heedful.spec.errors import UserError


def test_what_the_system_refuses_a_worker_is_one_line_with_the_path(tmp_path: Path) -> None:
    missing = tmp_path / "missing.txt"
    with pytest.raises(UserError, match="missing.txt: No such file") as caught:
        Pool(1).map(methodcaller("read_text"), [missing])
    assert "\n" not in str(caught.value)
