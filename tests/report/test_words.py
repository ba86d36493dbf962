from __future__ import annotations

import pytest

from heedful.report import words
from heedful.report.findings import Counts, HierarchyFinding, PairFinding, PolicyFinding, StepFinding
from heedful.spec.rollout import Estimate


def pair(value: float | None, low: float | None, high: float | None, **more: object) -> PairFinding:
    fdr = Estimate(value, low, high, 100, "bootstrap")
    counts = Counts(overfit_1=30, overfit_2=60, neither=10)
    return PairFinding("color,object", "color", "object", fdr, counts, **more)  # type: ignore[arg-type]  # test data


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (0.5, 0.2, 0.7, "first"),
        (-0.5, -0.7, -0.2, "second"),
        (0.5, -0.1, 0.9, "leans_first"),
        (-0.5, -0.9, 0.1, "leans_second"),
        (0.01, -0.05, 0.05, "tie"),  # at the threshold is within it
        (-0.05, -0.41, 0.32, "unsettled"),
        (0.05, 0.01, 0.09, "unsettled"),  # counts as no win, and is wider than a tie
        (None, None, None, "undefined"),
    ],
)
def test_standing(value: float | None, low: float | None, high: float | None, expected: str) -> None:
    assert words.standing(pair(value, low, high), tau=0.05) == expected


def test_an_interval_across_zero_is_not_called_a_preference() -> None:
    said = words.plain(words.pair_answer("p", pair(-0.3, -0.6, 0.02), 0.05))
    assert said == "100 rollouts do not settle whether p follows color or object; it leans to the object."


def test_a_wide_interval_around_zero_is_no_tie() -> None:
    said = words.pair_answer("p", pair(-0.05, -0.41, 0.32), 0.05)
    assert said == "100 rollouts do not settle whether p follows color or object."
    narrow = words.pair_answer("p", pair(0.0, -0.04, 0.04), 0.05)
    assert narrow.endswith("p follows both equally often: a tie.")


def test_a_weak_policy_is_not_said_to_follow_anything() -> None:
    said = words.pair_answer("p", pair(-0.9, -0.99, -0.8, weak=True), 0.05)
    assert "too little" in said
    assert "follows the" not in said


def test_undefined_is_said_to_be_undefined() -> None:
    undefined = pair(None, None, None)
    assert "undefined" in words.pair_answer("p", undefined, 0.05)
    assert "undefined (not zero)" in words.pair_evidence(undefined)
    assert "0.00" not in words.pair_evidence(undefined)


def test_ties_are_said_to_be_ties() -> None:
    found = HierarchyFinding(
        copeland={"color": 2, "object": 2, "size": 0},
        levels=(("color", "object"), ("size",)),
        sure=0.62,
        order_kept=(StepFinding(("color", "object"), ("size",), 0.9),),
    )
    assert words.plain(words.hierarchy_answer("p", found)) == (
        "p listens to color and object first (tied) and to size last."
    )
    evidence = words.hierarchy_evidence(found)
    assert "color = object › size" in evidence
    assert "62 %" in evidence
    assert "color and object before size, is kept in 90 %" in evidence


def test_all_tied_names_no_winner() -> None:
    found = HierarchyFinding(copeland={"a": 0, "b": 0}, levels=(("a", "b"),))
    assert "no factor above another" in words.hierarchy_answer("p", found)


def test_several_pairs_name_only_sure_winners() -> None:
    policy = PolicyFinding("p", pairs=(pair(0.6, 0.4, 0.8), pair(0.6, -0.1, 0.9)))
    answer, evidence = words.policy_answer(policy, 0.05)
    assert "1 of 2 pairs" in answer
    assert evidence == "It follows color over object."


@pytest.mark.parametrize(("value", "expected"), [(-0.004, "0.00"), (-1.0, "−1.00"), (0.314, "+0.31")])
def test_fdr_is_printed_with_sign_and_two_decimals(value: float, expected: str) -> None:
    assert words.fdr(value) == expected
