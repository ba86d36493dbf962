from collections import Counter
from dataclasses import replace

import pytest

from heedful.spec.errors import UserError
from heedful.spec.plan import Grid, Plan, PlanRow
from heedful.spec.vocabulary import load_vocabulary
from heedful.suites.grid import make
from heedful.suites.grid.tasks import plan_tasks

VOCABULARY = load_vocabulary()


def plan(factors: str, *rows: tuple[str, str, int]) -> Plan:
    """A plan by hand: rows of ``value+value``, verb, repeat."""
    axes = tuple(VOCABULARY.grammar.factor(name) for name in factors.split(","))
    made = []
    for cell, verb, repeat in rows:
        values = tuple(cell.split("+"))
        carriers = {"verb": verb}
        words = VOCABULARY.grammar.instruction(
            {**dict(zip(factors.split(","), values, strict=True)), **carriers}
        )
        made.append(PlanRow(values, carriers, words, repeat))
    return Plan("tabletop", Grid(axes, made[0].configuration), tuple(made))


def test_a_row_is_a_task_that_is_named_by_what_it_shows() -> None:
    one, two, three = plan_tasks(
        VOCABULARY,
        plan("color,object", ("red+cube", "grasp", 0), ("red+cube", "lift", 0), ("blue+star", "grasp", 12)),
    )
    assert one.id == one.seed_key == "grid/color-object/red+cube/grasp/000"
    assert two.id == "grid/color-object/red+cube/lift/000"
    assert three.id == "grid/color-object/blue+star/grasp/012"
    assert (one.instruction.text, one.target, one.verb) == ("grasp the red cube", "red-cube", "grasp")
    assert three.scene.objects[0].shape == "star"


def test_a_demonstration_is_the_same_in_every_plan() -> None:
    rows = [("red+cube", "grasp", 0), ("blue+star", "lift", 1), ("green+cup", "grasp", 0)]
    here = plan_tasks(VOCABULARY, plan("color,object", *rows))
    there = plan_tasks(VOCABULARY, plan("color,object", *rows[::-1]))
    assert here == there[::-1]
    turned = [("+".join(cell.split("+")[::-1]), verb, repeat) for cell, verb, repeat in rows]
    assert plan_tasks(VOCABULARY, plan("object,color", *turned)) == here
    evenly = {t.id: t for t in make().tasks({"factors": "color,object", "demos": 36 * 4})}
    assert all(evenly[t.id] == t for t in here)


def test_without_a_plan_the_whole_grid_is_covered_evenly() -> None:
    tasks = make().tasks({"factors": "verb,color", "demos": 100})
    counts = Counter((t.instruction.values["verb"], t.instruction.values["color"]) for t in tasks)
    assert len(counts) == 36
    assert set(counts.values()) == {2, 3}
    assert make().tasks({"factors": "verb,color", "demos": 40}) == tasks[:40]
    assert make().tasks({"factors": "verb,color", "demos": 0}) == []


def test_no_demonstration_shares_its_seed_with_a_scene_that_is_asked_about() -> None:
    options = {"factors": "color,object", "rollouts": 200, "demos": 200}
    assert not {t.seed_key for t in make().tasks(options)} & {c.seed_key for c in make().cases(options)}


def test_a_plan_that_the_vocabulary_cannot_show_is_refused() -> None:
    good = plan("color,object", ("red+cube", "grasp", 0))
    with pytest.raises(UserError, match="verb is missing"):
        plan_tasks(VOCABULARY, replace(good, rows=(replace(good.rows[0], carriers={}),)))
    with pytest.raises(UserError, match="'purple'"):
        plan_tasks(VOCABULARY, replace(good, rows=(replace(good.rows[0], configuration=("purple", "cube")),)))
