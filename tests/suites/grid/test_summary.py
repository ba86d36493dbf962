import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from heedful.metrics.rates import wilson
from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.suites.grid import make

Did = Callable[[Case], tuple[str | None, str | None]]  # case -> label, object taken
ENTRY = PolicyEntry("reference:v", "v", 0)
OPTIONS = {"factors": "color,object", "rollouts": 72, "empty": 20}


def y_of(case: Case, name: str) -> float:
    """y of the target and its confuser: the target stands left; swapped, it stands right."""
    return -0.1 if (name == case.scoring["target"]) is not bool(case.scene.swap) else 0.1


def played(case: Case, did: Did, entry: PolicyEntry) -> tuple[EpisodeRow, Verdict]:
    label, taken = did(case)
    episode = Episode(case, entry)
    row = EpisodeRow(episode.id, case, entry, "finished", case.instruction.text, 0)
    evidence: dict[str, str | float | None] = {"object": taken}
    for role in ("target", "other"):
        if role in case.scoring:
            evidence[f"y_{role}_m"] = y_of(case, case.scoring[role])
    return row, Verdict(episode.id, "grid", label, evidence=evidence)


def run(did: Did, entries: tuple[PolicyEntry, ...] = (ENTRY,), **options: Any) -> Any:
    given = {**OPTIONS, **options}
    both = [played(case, did, entry) for entry in entries for case in make().cases(given)]
    found = make().summarise([r for r, _ in both], {v.episode: v for _, v in both}, given)
    assert json.loads(json.dumps(found)) == found
    return found


def heedful(case: Case) -> tuple[str, str]:
    if case.arm == "empty_instruction":
        return "wrong_object", case.scoring["other"]
    return "success", case.scoring["target"]


def color_blind(case: Case) -> tuple[str, str]:
    """Takes whichever of target and color confuser stands left."""
    name = min((case.scoring["target"], case.scoring["other"]), key=lambda n: y_of(case, n))
    return ("success" if name == case.scoring["target"] else "wrong_object"), name


def test_a_policy_that_does_as_told() -> None:
    found = run(heedful)
    assert found["grid"]["name"] == "color,object"
    assert [f["name"] for f in found["grid"]["factors"]] == ["color", "object"]
    assert found["grid"]["factors"][0]["values"][:2] == ["red", "yellow"]
    (policy,) = found["policies"]
    assert policy["n"] == 72 and policy["counts"]["success"] == 72
    assert policy["success"]["value"] == policy["success_naive"]["value"] == 1.0
    assert 0.8 < policy["success"]["low"] <= policy["success_naive"]["low"] < 1
    assert policy["success"]["method"] == "bootstrap over 36 cells"
    assert policy["failures"]["wrong_object"]["value"] == 0.0
    assert policy["side_preference"]["value"] == 0.5
    assert policy["empty_instruction"]["success"]["value"] == 0.0
    assert policy["warnings"] == []
    assert "does as told in 100 %" in found["takeaway"]


def test_cells_stand_in_the_grids_order_with_their_counts() -> None:
    def only_red(case: Case) -> tuple[str, str | None]:
        red = case.scoring["cell"].startswith("red+")
        return ("success", case.scoring["target"]) if red else ("nothing", None)

    cells = run(only_red)["policies"][0]["cells"]
    assert len(cells) == 36
    assert [c["cell"] for c in cells[:3]] == ["red+cube", "red+sphere", "red+cup"]
    assert cells[0]["values"] == ["red", "cube"]
    assert all((c["successes"], c["trials"]) == (2, 2) for c in cells[:6])
    assert all((c["successes"], c["trials"]) == (0, 2) for c in cells[6:])
    assert cells[7]["counts"]["nothing"] == 2


def test_a_policy_with_a_favourite_side_gains_nothing_and_is_found_out() -> None:
    policy = run(color_blind)["policies"][0]
    assert policy["success"]["value"] == 0.5
    assert policy["failures"]["wrong_object"]["value"] == 0.5
    assert policy["side_preference"]["value"] == 1.0
    assert "Prefers the object on the image's left." in policy["warnings"]


def test_success_without_words_says_that_the_scene_tells_the_task() -> None:
    policy = run(lambda case: ("success", case.scoring["target"]))["policies"][0]
    assert policy["empty_instruction"]["success"]["value"] == 1.0
    assert any("without any words: the scene tells the task" in w for w in policy["warnings"])


def test_training_seeds_are_pooled_with_a_wider_interval_and_listed() -> None:
    seeds = tuple(PolicyEntry(f"reference:v{s}", "v", s) for s in range(3))

    def did(case: Case) -> tuple[str, str]:
        return color_blind(case)

    one, three = run(did), run(did, seeds)
    assert len(three["policies"]) == 1
    policy = three["policies"][0]
    assert policy["training_seeds"] == [0, 1, 2]
    assert policy["n"] == 216
    assert policy["success"]["method"] == "bootstrap over 36 cells and 3 training seeds"
    assert [s["training_seed"] for s in policy["by_training_seed"]] == [0, 1, 2]
    assert all(s["success"]["n"] == 72 and len(s["cells"]) == 36 for s in policy["by_training_seed"])
    assert one["policies"][0]["by_training_seed"][0]["success"]["value"] == 0.5
    assert policy["cells"][0]["trials"] == 6


def test_a_policy_good_in_some_cells_only_has_a_wider_interval_than_its_rollouts_say() -> None:
    def some(case: Case) -> tuple[str, str | None]:
        good = case.scoring["cell"].split("+")[0] in ("red", "yellow", "blue")
        return ("success", case.scoring["target"]) if good else ("nothing", None)

    policy = run(some, rollouts=360)["policies"][0]
    assert policy["success"]["value"] == 0.5
    naive = policy["success_naive"]
    assert policy["success"]["high"] - policy["success"]["low"] > 2 * (naive["high"] - naive["low"])


def test_crashed_and_abstained_are_counted_apart_and_in_no_rate() -> None:
    cases = make().cases(OPTIONS)
    both = [played(case, heedful, ENTRY) for case in cases]
    rows = [replace(r, status="crashed") if i == 0 else r for i, (r, _) in enumerate(both)]
    verdicts = {v.episode: replace(v, label=None) if i == 1 else v for i, (_, v) in enumerate(both)}
    policy = make().summarise(rows, verdicts, OPTIONS)["policies"][0]
    assert (policy["counts"]["crashed"], policy["counts"]["unjudged"]) == (1, 1)
    assert policy["success"]["n"] == policy["success_naive"]["n"] == 70
    assert policy["side_preference"]["n"] == 70
    crashed = "1 of 92 rollouts crashed; they are in no rate."
    assert crashed in policy["warnings"]
    assert "1 of 92 rollouts could not be judged; they are in no rate." in policy["warnings"]
    assert "1 scene lacks a judged rollout: sides do not balance there." in policy["warnings"]


def test_a_success_on_another_object_is_flagged() -> None:
    policy = run(lambda case: ("success", case.scoring["other"]))["policies"][0]
    assert any("92 verdicts are impossible (success without the target)" in w for w in policy["warnings"])


@pytest.mark.parametrize("factors", ["verb", "size,spatial", "verb,spatial"])
def test_grids_that_are_asked_once_a_scene_have_no_side_preference(factors: str) -> None:
    policy = run(lambda case: ("success", case.scoring["target"]), factors=factors, empty=0)["policies"][0]
    assert policy["side_preference"]["value"] is None
    assert policy["warnings"] == []
    assert policy["empty_instruction"]["success"]["value"] is None


def test_the_naive_interval_is_wilsons() -> None:
    policy = run(color_blind)["policies"][0]
    assert policy["success_naive"]["low"] == wilson(36, 72).low


def test_the_summary_of_nothing() -> None:
    found = make().summarise([], {}, OPTIONS)
    assert found["policies"] == [] and found["warnings"] == ["There are no rollouts yet."]
    assert found["takeaway"] == ""


@pytest.mark.parametrize(
    ("factors", "named"),
    [("color,spatial", "does not need color"), ("color,object", ""), ("verb,spatial", "")],
)
def test_a_place_that_tells_the_target_apart_is_said(factors: str, named: str) -> None:
    found = run(lambda case: ("success", case.scoring["target"]), factors=factors)
    assert [named in warning for warning in found["warnings"]] == ([True] if named else [])
