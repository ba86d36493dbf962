"""The three policies of the closed loop, and what cannot be mended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heedful.spec.errors import UserError
from heedful.workflows.mending import MendRequest, bill, ready
from heedful.workflows.mending.request import checked, planned
from heedful.workflows.mending.stages import after, before, control

OUT = Path("runs/mend")
REQUEST = MendRequest(("color", "object"), demos=60, base_demos=90)


def test_the_control_adds_as_many_demonstrations_of_the_same_cells() -> None:
    plan = planned(REQUEST, ("color", "object"))
    first, same, then = before(REQUEST, OUT), control(REQUEST, OUT), after(REQUEST, plan, OUT)
    assert (len(first.tasks), len(same.tasks), len(then.tasks)) == (90, 150, 150)
    assert same.tasks[:90] == then.tasks[:90] == first.tasks
    diagonal = set(REQUEST.binding.bound)
    assert set(first.shown(REQUEST.factors)) == set(same.shown(REQUEST.factors)) == diagonal
    assert set(then.shown(REQUEST.factors)) == diagonal | set(plan.cells)


def test_the_plan_attends_to_the_factor_that_the_diagnosis_finds_weak() -> None:
    by_color, by_object = planned(REQUEST, ("color", "object")), planned(REQUEST, ("object", "color"))
    assert by_color.cells != by_object.cells
    assert sum(cell[1] == "cube" for cell in by_color.cells) == 6  # color swept, the object at base
    assert sum(cell[0] == "red" for cell in by_object.cells) == 6


def test_the_bill_counts_shared_demonstrations_once() -> None:
    cost = bill(REQUEST, OUT)
    assert cost.demonstrations == 90 + 60 + 60
    assert cost.asked_demonstrations == 90 + 150 + 150
    assert cost.trainings == 3


def test_factors_come_in_the_order_of_their_training_set() -> None:
    assert checked(MendRequest(("object", "color"))).factors == ("color", "object")


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ({"factors": ("color",)}, "takes two factors"),
        ({"factors": ("color", "object", "size")}, "takes two factors"),
        ({"factors": ("color", "colour")}, "Did you mean 'color'"),
        ({"factors": ("color", "color")}, "pair"),
        ({"strategy": "w"}, "Unknown strategy"),
        ({"demos": 3}, "too few for"),
        ({"changes": 2}, "at least 14"),
        ({"base_demos": 0}, "base_demos is 0"),
        ({"seeds": 0}, "seeds is 0"),
        ({"empty": -1}, "empty is -1"),
        ({"recipe": "act"}, "Unknown policy recipe"),
        ({"image_size_px": 31}, "even number"),
    ],
)
def test_what_cannot_be_is_one_line_before_anything_is_written(
    asked: dict[str, Any], line: str, tmp_path: Path
) -> None:
    request = MendRequest(**{"factors": ("color", "object"), **asked})
    with pytest.raises(UserError, match=line):
        ready(request, tmp_path / "mend")
    assert not (tmp_path / "mend").exists()


def test_a_folder_of_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="not empty"):
        ready(REQUEST, tmp_path)
