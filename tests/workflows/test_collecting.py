"""Plans carried out in the tabletop world, few and small so that it is quick."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from heedful.planning.schedule import make_plan
from heedful.spec.errors import UserError
from heedful.spec.plan import Plan, PlanRow
from heedful.spec.vocabulary import load_vocabulary
from heedful.store.datasets import load_demonstrations
from heedful.store.plan_file import write_plan
from heedful.workflows.collecting import collect, collect_from_plan, collect_plan

VOCABULARY = load_vocabulary()


def made(strategy: str, factors: tuple[str, ...] = ("color", "object"), demos: int = 24) -> Plan:
    return make_plan("tabletop", VOCABULARY, factors, strategy, demos)


def first(plan: Plan, count: int) -> Plan:
    return replace(plan, rows=plan.rows[:count])


def said_in(plan: Plan) -> dict[tuple[str, int], PlanRow]:
    return {(row.instruction.text, row.repeat): row for row in plan.rows}


def test_a_plan_file_becomes_a_dataset_in_its_order(tmp_path: Path) -> None:
    write_plan(first(made("v"), 5), tmp_path / "plan.csv")
    summary = collect_plan(tmp_path / "plan.csv", tmp_path / "d", image_size_px=32, workers=1)
    assert (summary.episodes, summary.failed) == (5, 0)
    with (tmp_path / "plan.csv").open() as file:
        wanted = [row["instruction"] for row in csv.DictReader(file)]
    found = list(load_demonstrations(tmp_path / "d", cameras=()))
    assert [d.task for d in found] == wanted
    assert found[0].source["id"] == "grid/color-object/red+cube/grasp/000"
    again = collect_plan(tmp_path / "plan.csv", tmp_path / "d", image_size_px=32, workers=1)
    assert again == summary


def test_plans_share_what_they_have_in_common(tmp_path: Path) -> None:
    v, by_l = made("v"), made("l")
    shared = [key for key in said_in(v) if key in said_in(by_l)][:2]
    own = [key for key in said_in(v) if key not in said_in(by_l)][:1]
    few = replace(v, rows=tuple(said_in(v)[key] for key in (*shared, *own)))
    others = replace(by_l, rows=tuple(said_in(by_l)[key] for key in shared))
    cache = tmp_path / "cache"
    collect_from_plan(few, tmp_path / "v", image_size_px=32, workers=1, cache=cache)
    kept = sorted(cache.rglob("*.npz"))
    assert len(kept) == 3
    told: list[int] = []
    collect_from_plan(
        others,
        tmp_path / "l",
        image_size_px=32,
        workers=1,
        cache=cache,
        progress=lambda stage, done, total, note="": told.append(done),
    )
    assert told == [2]  # all there at once
    assert sorted(cache.rglob("*.npz")) == kept


def test_the_suite_collects_its_grid_evenly_too(tmp_path: Path) -> None:
    options = {"factors": "verb,color", "demos": 3}
    summary = collect("grid", options, tmp_path / "d", image_size_px=32, workers=1, cache=tmp_path / "c")
    assert summary.episodes == 3
    assert len(list((tmp_path / "c").rglob("*.npz"))) == 3


def test_what_the_simulation_cannot_show_is_refused_before_there_is_a_folder(tmp_path: Path) -> None:
    plan = first(made("v"), 2)
    with pytest.raises(UserError, match="grammar 'bun' cannot be demonstrated in simulation") as caught:
        collect_from_plan(replace(plan, grammar="bun"), tmp_path / "d")
    assert "\n" not in str(caught.value)
    path = tmp_path / "own.yaml"
    path.write_text(
        """
name: own
template: "{verb} the {color} cube"
factors:
  - {name: verb, kind: action, values: [lift, tip]}
  - {name: color, values: [red, mauve]}
"""
    )
    own = load_vocabulary(path)
    bad = make_plan(str(path), own, ("verb", "color"), "complete", 4)
    for cell, said in ((("tip", "red"), "Unknown verb 'tip'"), (("lift", "mauve"), "Unknown color 'mauve'")):
        rows = tuple(row for row in bad.rows if row.configuration == cell)
        with pytest.raises(UserError, match=said):
            collect_from_plan(replace(bad, rows=rows), tmp_path / "d")
    with pytest.raises(UserError, match="even number"):
        collect_from_plan(plan, tmp_path / "d", image_size_px=33)
    assert not (tmp_path / "d").exists()
