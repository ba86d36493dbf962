from pathlib import Path
from typing import Any

import pytest

from heedful.spec.errors import UserError
from heedful.spec.paraphrase import CELLS
from heedful.suites.paraphrase.options import resolve


def test_pairs_and_cells_may_be_named_in_any_order_or_all() -> None:
    found = resolve({"pairs": "object,color", "cells": ["none/hint", "addition_deletion/none"]})
    assert found.pairs == ("color,object",)
    assert found.cells == ("addition_deletion/none", "none/hint")
    everything = resolve({"pairs": "all", "cells": "all"})
    assert len(everything.pairs) == 10
    assert len(everything.cells) == len(CELLS)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rollout": 3}, "Did you mean 'rollouts'"),
        ({"pairs": "color,shape"}, "'shape'"),
        ({"pairs": []}, "pairs"),
        ({"cells": "none/hints"}, "Did you mean 'hint'"),
        ({"cells": "none/none"}, "original wording"),
        ({"cells": [3]}, "cells"),
        ({"per_cell": 0}, "from 1 to"),
        ({"scenes": 0}, "from 1 to"),
        ({"rollouts": -1}, "negative"),
        ({"rollouts": 1_000_000_000}, "from 0 to"),
        ({"rollouts": True}, "whole number"),
        ({"paraphrases": "nowhere.csv"}, "nowhere.csv"),
        ({"instructions": ["grasp the red cub"]}, "Did you mean 'grasp the red cube'"),
        ({"vocabulary": "tabletops"}, "tabletop"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as refused:
        resolve(given)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_of_paraphrases_is_kept_as_it_was_named(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("")
    assert resolve({"paraphrases": str(tmp_path / "p.csv")}).paraphrases == str(tmp_path / "p.csv")
