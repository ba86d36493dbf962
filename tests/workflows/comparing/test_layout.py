"""What a comparison consists of, worked out before anything is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heedful.planning.grounding import stated_order
from heedful.spec.errors import UserError
from heedful.spec.plan import factor_changes
from heedful.spec.vocabulary import load_vocabulary
from heedful.suites.grid.tasks import plan_tasks
from heedful.workflows.comparing import ComparisonRequest, bill, laid_out
from heedful.workflows.comparing.layout import Layout, lay_out
from heedful.workflows.comparing.request import checked

OUT = Path("runs/cmp")


def layout(**asked: Any) -> Layout:
    request = checked(ComparisonRequest(**{"factors": ("color", "object"), "changes": (18,), **asked}))
    return lay_out(request, stated_order(request.factors), OUT)


def test_every_strategy_budget_and_seed_has_a_lesson_at_exactly_its_cost() -> None:
    found = layout(changes=(18, 24))
    assert len(found.arms) == 3 * 2
    assert len(found.lessons) == 3 * 2 * 3
    for lesson in found.lessons:
        cells = [row.configuration for row in lesson.plan.rows]
        assert factor_changes(cells) == lesson.arm.changes
        assert len(cells) == lesson.arm.demos
        assert lesson.plan.seed == lesson.seed


def test_strategies_below_their_minimum_are_left_out_and_the_rest_goes_on() -> None:
    found = layout(changes=(12, 18))
    assert [(one.strategy, one.changes, one.minimum) for one in found.left_out] == [("v", 12, 14)]
    assert [(arm.strategy, arm.changes) for arm in found.arms] == [
        ("v", 18),
        ("l", 12),
        ("l", 18),
        ("random", 12),
        ("random", 18),
    ]


def test_nothing_left_to_compare_is_one_line() -> None:
    with pytest.raises(UserError, match="Nothing is left to compare. Strategy v .* least is 14"):
        layout(strategies=("v",), changes=(3,))


def test_no_budget_asks_for_the_least_that_all_can_do() -> None:
    assert {arm.changes for arm in layout(changes=()).arms} == {14}
    with pytest.raises(UserError, match="random has no f of its own"):
        layout(changes=(), strategies=("random",))


def test_equal_plans_share_a_dataset_and_with_equal_seeds_a_policy() -> None:
    found = layout(strategies=("v",), changes=(14,))
    assert len({lesson.data for lesson in found.lessons}) == 1  # nothing is drawn at the least f
    assert len({lesson.policy for lesson in found.lessons}) == 3
    assert [job.seed for job in found.jobs()] == [0, 1, 2]
    other = layout(strategies=("v", "l"), changes=(18,))
    assert len({lesson.data for lesson in other.lessons}) == 6


def test_factors_stand_in_the_vocabulary_s_order_whatever_was_typed() -> None:
    one, other = layout(factors=("object", "color")), layout()
    assert one.request.factors == ("color", "object")
    assert [a.plan.rows for a in one.lessons] == [b.plan.rows for b in other.lessons]


def test_the_run_pairs_all_policies_on_the_same_cases() -> None:
    spec = layout().run_spec()
    assert {(p.name, p.training_seed) for p in spec.policies} == {
        (f"{name} f=18 n=200", seed) for name in ("v", "l", "random") for seed in range(3)
    }
    assert all(not p.only for p in spec.policies)


def test_the_bill_counts_each_demonstration_once() -> None:
    found = layout()
    cost = bill(found, workers=2)
    ids = {task.id for lesson in found.lessons for task in plan_tasks(load_vocabulary(), lesson.plan)}
    assert cost.demonstrations == len(ids)
    assert cost.asked_demonstrations == 9 * 200
    assert cost.demonstrations < cost.asked_demonstrations
    assert (cost.trainings, cost.datasets, cost.episodes) == (9, 9, 9 * 240)
    assert bill(found, workers=1).collect_min == pytest.approx(2 * cost.collect_min)


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ({"factors": ()}, "No factors"),
        ({"factors": ("color", "colour")}, "Did you mean 'color'"),
        ({"factors": ("color", "color")}, "named twice"),
        ({"strategies": ()}, "No strategies"),
        ({"strategies": ("w",)}, "Unknown strategy"),
        ({"changes": (14, 18), "demos": (100, 200)}, "vary one of the two"),
        ({"seeds": 0}, "number of seeds is 0"),
        ({"rollouts": 0}, "number of rollouts is 0"),
        ({"empty": -1}, "number of empty is -1"),
        ({"demos": (0,)}, "number of demos is 0"),
        ({"demos": ()}, "No number of demonstrations"),
        ({"demos": (5,)}, "too few for"),
        ({"changes": (-1,)}, "factor changes is -1"),
        ({"base_seed": -1}, "base seed is -1"),
        ({"image_size_px": 33}, "even number"),
        ({"encoder": "minlm"}, "Did you mean 'minilm'"),
        ({"recipe": "act"}, "Unknown policy recipe"),
        ({"steps": 0}, "steps is 0"),
    ],
)
def test_what_cannot_be_is_one_line_before_anything_is_written(
    asked: dict[str, Any], line: str, tmp_path: Path
) -> None:
    request = ComparisonRequest(**{"factors": ("color", "object"), "changes": (18,), **asked})
    with pytest.raises(UserError, match=line) as error:
        laid_out(request, tmp_path / "cmp")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "cmp").exists()


def test_another_order_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    from heedful.store.plan_file import write_plan

    request = ComparisonRequest(("color", "object"), ("v",), (18,))
    for lesson in laid_out(request, tmp_path, ("color", "object")).lessons:
        write_plan(lesson.plan, lesson.plan_file)
    laid_out(request, tmp_path, ("color", "object"))
    with pytest.raises(UserError, match="holds another plan"):
        laid_out(request, tmp_path, ("object", "color"))


def test_an_order_comes_from_one_place(tmp_path: Path) -> None:
    request = ComparisonRequest(("color", "object"), changes=(18,))
    with pytest.raises(UserError, match="name one of the two"):
        laid_out(request, tmp_path, ("color", "object"), tmp_path)
    with pytest.raises(UserError, match="There is no run"):
        laid_out(request, tmp_path / "cmp", None, tmp_path)
