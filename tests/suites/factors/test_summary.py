from collections.abc import Callable
from typing import Any

import pytest

from heedful.report.findings import read_findings
from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.codec import canonical
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.suites.factors import make

Did = Callable[[Case], tuple[str | None, str | None]]  # case -> label, object taken
ENTRY = PolicyEntry("reference:co", "reference", 0)


def told(case: Case, name: str) -> float:
    """y of an object: the first stands left; swapped, it stands right."""
    first = case.scene.objects[0].name == name
    return -0.1 if first is not bool(case.scene.swap) else 0.1


def played(case: Case, did: Did, entry: PolicyEntry) -> tuple[EpisodeRow, Verdict]:
    found, taken = did(case)
    episode = Episode(case, entry)
    row = EpisodeRow(episode.id, case, entry, "finished", case.instruction.text, 0)
    evidence: dict[str, str | float | None] = {"object": taken}
    for role, o in zip(("first", "second"), case.scene.objects, strict=False):
        evidence |= {role: o.name, f"y_{role}_m": told(case, o.name)}
    return row, Verdict(episode.id, "factors", found, evidence=evidence)


def run(did: Did, pair: str = "color,object", entries: tuple[PolicyEntry, ...] = (ENTRY,)) -> Any:
    options = {"pairs": pair, "rollouts": 120, "in_distribution": 24, "empty": 30}
    cases = make().cases(options)
    played_all = [played(c, did, e) for e in entries for c in cases]
    return make().summarise([r for r, _ in played_all], {v.episode: v for _, v in played_all}, options)


def pair_of(metrics: Any) -> Any:
    return metrics["policies"][0]["pairs"][0]


def color_follower(case: Case) -> tuple[str, str]:
    if case.arm == "in_distribution":
        return "success", case.scoring["target"]
    return "overfit_1", case.scoring["follows_1"]


def left_taker(case: Case) -> tuple[str, str]:
    """Takes what stands on the left, whatever it is told."""
    if case.arm == "in_distribution":
        return "success", case.scoring["target"]
    name = next(o.name for o in case.scene.objects if told(case, o.name) < 0)
    return ("overfit_1" if name == case.scoring["follows_1"] else "overfit_2"), name


def test_a_policy_that_follows_the_color() -> None:
    pair = pair_of(run(color_follower))
    assert pair["counts"]["overfit_1"] == 120
    assert pair["fdr"]["value"] == 1.0
    assert 0 < pair["fdr"]["low"] < pair["fdr_naive"]["low"] < 1
    assert pair["same_object"]["value"] == 0.0
    assert pair["side_preference"]["value"] == 0.5
    assert len(pair["cells"]) == 30
    assert all(c["counts"]["overfit_1"] == 4 for c in pair["cells"])
    assert pair["in_distribution"]["success"]["n"] == 24
    assert pair["warnings"] == [] and pair["weak"] is False


def test_a_side_preference_is_no_factor_preference() -> None:
    pair = pair_of(run(left_taker))
    assert pair["fdr"]["value"] == 0.0
    assert pair["side_preference"]["value"] == 1.0
    assert pair["same_object"]["value"] == 1.0
    assert pair["empty_instruction"]["side_preference"]["value"] == 1.0
    assert any("image's left" in w for w in pair["warnings"])
    assert any("same object whatever it is told (100 %)" in w for w in pair["warnings"])


def test_a_policy_that_can_do_nothing_is_weak_and_its_fdr_undefined() -> None:
    metrics = run(lambda case: ("neither", None))
    pair = pair_of(metrics)
    assert pair["fdr"]["value"] is None and pair["fdr"]["low"] is None
    assert pair["neither"]["value"] == 1.0
    assert pair["same_object"]["value"] is None
    assert pair["weak"] is True
    assert sum("too weak" in w for w in pair["warnings"]) == 2
    assert "undefined" in str(metrics["takeaway"])


def test_training_seeds_are_pooled_and_listed() -> None:
    entries = tuple(PolicyEntry(f"reference:co{k}", "reference", k) for k in (0, 1))

    def by_seed(k: int) -> Did:
        return color_follower if k == 0 else left_taker

    options = {"pairs": "color,object", "rollouts": 120, "in_distribution": 24, "empty": 0}
    done = [played(c, by_seed(k), e) for k, e in enumerate(entries) for c in make().cases(options)]
    metrics = make().summarise([r for r, _ in done], {v.episode: v for _, v in done}, options)
    policy = metrics["policies"][0]
    pair = policy["pairs"][0]
    assert policy["training_seeds"] == [0, 1] and len(policy["refs"]) == 2
    assert pair["fdr"]["value"] == pytest.approx(0.5)
    assert "2 training seeds" in pair["fdr"]["method"]
    assert [s["fdr"]["value"] for s in pair["by_training_seed"]] == [1.0, 0.0]
    assert pair["same_object"]["value"] == pytest.approx(0.5)


def test_crashed_and_unjudged_are_counted_apart() -> None:
    options = {"pairs": "color,object", "rollouts": 8, "in_distribution": 0, "empty": 0}
    done = [played(c, color_follower, ENTRY) for c in make().cases(options)]
    rows = [r for r, _ in done]
    rows[0] = EpisodeRow(rows[0].id, rows[0].case, ENTRY, "crashed", "", 0, error="boom")
    verdicts = {v.episode: v for _, v in done[:-1]}
    pair = pair_of(make().summarise(rows, verdicts, options))
    assert pair["counts"] == {
        "success": 0, "overfit_1": 6, "overfit_2": 0, "neither": 0, "crashed": 1, "unjudged": 1
    }  # fmt: skip
    said = " ".join(pair["warnings"])
    assert "1 of 8 rollouts crashed" in said and "1 of 8 rollouts could not be judged" in said
    assert "2 conflict scenes lack a judged rollout" in said


def test_impossible_verdicts_and_success_without_words_are_flagged() -> None:
    def cheat(case: Case) -> tuple[str, str]:
        taken = "bound" if case.arm == "conflict" else "target"
        return "success", case.scoring[taken]

    said = " ".join(pair_of(run(cheat, "verb,color"))["warnings"])
    assert "120 verdicts are impossible" in said
    assert "without any words" in said


def test_the_takeaway_says_it_in_words_and_numbers() -> None:
    words = str(run(color_follower)["takeaway"])
    assert 'Told "grasp the red sphere" where training binds red to cube' in words
    assert "reference went for the color in 100 % and for the object in 0 %" in words
    assert "the color dominates (FDR +1.00 [" in words


def test_the_same_rollouts_give_the_same_numbers_and_plain_json() -> None:
    assert canonical(run(left_taker)) == canonical(run(left_taker))


def test_nothing_yet() -> None:
    metrics = make().summarise([], {}, make().options({}))
    assert metrics["policies"] == [] and metrics["warnings"] == ["There are no rollouts yet."]


def test_the_report_reads_what_the_suite_writes() -> None:
    findings = read_findings(run(color_follower))
    pair = findings.policies[0].pairs[0]
    assert pair.counts.overfit_1 == 120 and pair.counts.judged == 120
    assert pair.in_distribution is not None and pair.in_distribution.success is not None
    assert pair.in_distribution.success.value == 1.0
    assert findings.factors == ("color", "object")
