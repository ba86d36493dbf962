from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from page_structure import check_page

from heedful.metrics.path_failures import Method, path_failures
from heedful.report.failures import Material, build, remarks, summary
from heedful.report.failures.corridor_figure import MOST_DRAWN, corridor_figure
from heedful.report.failures.spread_figure import spread_figure
from heedful.report.svg import BLUE, ORANGE
from heedful.spec.end_effector import EndEffectorPath, RecordedPaths
from heedful.spec.errors import UserError

TARGET = np.asarray([0.5, 0.0, 0.02])


def reach(goal: np.ndarray, steps: int = 30) -> np.ndarray:
    return np.linspace([0.3, 0.0, 0.4], goal, steps)


def paths(
    policy: str = "pi",
    task: str = "lift it",
    far: int = 4,
    near: int = 3,
    wide: float = 0.03,
    successes: int = 12,
) -> list[EndEffectorPath]:
    rng = np.random.default_rng(3)
    made = []
    for kind, count in (("success", successes), ("near", near), ("far", far)):
        for i in range(count):
            angle = rng.uniform(0, 2 * np.pi)
            # half as far out as the successes, or a hand's breadth beyond them
            gap = {"success": wide, "near": wide / 2, "far": 0.25}[kind]
            goal = TARGET + gap * np.asarray([np.cos(angle), np.sin(angle), 0])
            made.append(
                EndEffectorPath(
                    policy,
                    task,
                    f"{kind}{i}",
                    kind == "success",
                    reach(goal),
                    arm="paraphrase",
                    cell="none/hint" if i % 2 else "addition_deletion/none",
                    category="act" if i % 2 else "obj",
                    instruction=f"<b>would you</b> {kind}, {i}?",
                    target_m=TARGET,
                )
            )
    return made


def material(recorded: list[EndEffectorPath], method: Method | None = None) -> Material:
    used = method or Method("world")
    crashed = {recorded[0].policy: {"crashed": 2}}
    found = path_failures(RecordedPaths(tuple(recorded), crashed), used, np.random.default_rng(0))
    return Material(
        "runs/p", ("runs/p",), used, True, found, "2025-01-01 10:00", ("heedful paraphrase failures",)
    )


def test_the_page_says_what_was_planted_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    page = build(material(paths()), tmp_path / "page").read_text(encoding="utf-8")
    assert "57.1 %" in page and "4 of 7" in page
    assert "2 crashed" in page
    assert "<b>would you</b>" not in page, "instructions are escaped"
    check_page(page)
    for figure in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        ElementTree.fromstring(figure)


def test_the_tables_beside_the_page_hold_every_failure_unrounded(tmp_path: Path) -> None:
    made = material(paths())
    build(made, tmp_path / "page")
    rows = list(csv.DictReader((tmp_path / "page" / "failures.csv").open(encoding="utf-8")))
    assert len(rows) == 7
    assert [r["max"] for r in rows].count("far") == 4
    assert {r["max"] for r in rows if r["episode"].startswith("near")} == {"near"}
    assert all((float(r["distance_m"]) <= float(r["limit_m"])) == (r["max"] == "near") for r in rows)
    data = json.loads((tmp_path / "page" / "failures.json").read_text(encoding="utf-8"))
    assert data == json.loads(json.dumps(summary(made)))
    (policy,) = data["policies"]
    assert policy["far"]["max"]["far"] == 4
    assert sum(c["failures"] for c in policy["cells"].values()) == 7
    assert policy["left_out"] == {"crashed": 2}


def test_another_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(UserError):
        build(material(paths()), tmp_path)


def test_failures_are_drawn_in_the_colour_of_their_side_and_not_too_many() -> None:
    (policy,) = material(paths(far=3 * MOST_DRAWN, near=0)).policies
    (task,) = policy.tasks
    drawn = str(corridor_figure(task, "k", ("paraphrase",)))
    assert drawn.count(f'stroke="{ORANGE}"') == 2 * MOST_DRAWN  # from above and from the side
    assert f'stroke="{BLUE}"' not in drawn
    assert str(corridor_figure(task, "k", ("original",))).count(f'stroke="{ORANGE}"') == 0


def test_a_moved_scene_marks_its_target() -> None:
    tasks = [material(paths(), Method(frame)).policies[0].tasks[0] for frame in ("world", "target")]
    lines = [str(corridor_figure(task, "k", ("paraphrase",))).count("<line") for task in tasks]
    assert lines[1] == lines[0] + 4  # a cross in each of the two views


def test_a_success_on_the_edge_is_drawn_inside_and_what_is_off_the_axis_still_counts() -> None:
    drawn = str(spread_figure([0.0, 1.0], [1.0001, 500.0, float("inf")], "k", "p"))
    assert "3 failures, 100 % beyond" in drawn
    assert drawn.count("url(#k-hatch)") == 2 and f'fill="{BLUE}"' not in drawn
    assert f'fill="{BLUE}"' in str(spread_figure([1.0], [1.0], "k", "p"))


def test_remarks_tell_narrow_corridors_tasks_left_out_and_the_published_rule() -> None:
    narrow = remarks(material(paths(wide=0.002)))
    assert any("narrower than 1 cm" in line for line in narrow)
    few = remarks(material([*paths(), *paths(task="seldom", successes=2)]))
    assert any(line.startswith("7 of 14 failures are left out") for line in few)
    widened = remarks(material(paths(wide=0.002, near=0, far=5), Method("world", least_width_m=0.5)))
    assert any("0 of 5 failures are far; 5 would be" in line for line in widened)
    assert len(remarks(material(paths()))) == 1, "nothing to warn of but the frame"


@pytest.mark.parametrize("made", [{"far": 0, "near": 0}, {"successes": 1}, {"far": 0}, {"near": 0}])
def test_the_page_can_be_written_whatever_is_missing(tmp_path: Path, made: dict[str, int]) -> None:
    recorded = [*paths("one", **made), *paths("other")]
    page = build(material(recorded), tmp_path / "page").read_text(encoding="utf-8")
    assert "2 policies" in page
    check_page(page)
    alone = build(material(paths("one", **made)), tmp_path / "alone").read_text(encoding="utf-8")
    assert "None" not in re.sub(r"<style.*?</style>", "", alone, flags=re.DOTALL)


def test_a_policy_that_repeats_itself_to_the_bit_gives_a_page(tmp_path: Path) -> None:
    same = [p for p in paths(wide=0.0, near=0)]
    assert build(material(same), tmp_path / "page").exists()
