from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planning_doubles import NAMES

from heedful.planning.grounding import PUBLISHED_ORDER, measured_order, ranked, stated_order
from heedful.spec.errors import UserError

FDR = tuple[float | None, float | None, float | None]


def policy(name: str, pairs: dict[tuple[str, str], FDR], copeland: dict[str, int] | None = None) -> Any:
    """Return the entry of a policy in metrics.json."""
    return {
        "name": name,
        "pairs": [
            {"factor_1": a, "factor_2": b, "fdr": {"value": v, "low": low, "high": high}, "weak": False}
            for (a, b), (v, low, high) in pairs.items()
        ],
        "hierarchy": {"copeland": copeland} if copeland else None,
    }


def metrics(*policies: Any) -> Any:
    return {"policies": list(policies)}


SURE, UNSURE = (-0.4, -0.6, -0.1), (-0.2, -0.6, 0.2)


def test_a_separable_pair_is_taken_as_it_was_measured() -> None:
    found = measured_order(metrics(policy("p", {("color", "object"): SURE})), ("color", "object"))
    assert found.order == ("object", "color")
    assert found.source == "measured (p)"
    assert found.remarks == ()


def test_an_inseparable_pair_falls_back_and_says_so() -> None:
    found = measured_order(metrics(policy("p", {("color", "object"): UNSURE})), ("object", "color"))
    assert found.order == ("color", "object")
    assert found.source == "published order, nothing separable (p)"
    assert found.remarks == (
        "object and color are not separable (FDR -0.20 [-0.60, +0.20] of color over object includes 0); "
        "they stand in the published order: color before object.",
    )


@pytest.mark.parametrize("value", [(None, None, None), (0.3, None, None)])
def test_an_undefined_rate_separates_nothing(value: FDR) -> None:
    found = measured_order(metrics(policy("p", {("verb", "color"): value})), ("color", "verb"))
    assert found.order == ("color", "verb")
    assert "the FDR is undefined" in found.remarks[0]


def test_a_policy_too_weak_to_say_separates_nothing() -> None:
    weak = policy("p", {("color", "object"): SURE})
    weak["pairs"][0]["weak"] = True
    found = measured_order(metrics(weak), ("color", "object"))
    assert found.order == ("color", "object")
    assert "too little" in found.remarks[0]


def test_a_factor_that_was_never_measured_stands_as_published() -> None:
    found = measured_order(metrics(policy("p", {("color", "verb"): SURE})), ("color", "spatial", "verb"))
    assert found.order.index("verb") < found.order.index("color")  # what was measured is kept
    assert found.source == "measured in part (p)"
    assert any("did not measure" in remark for remark in found.remarks)


def test_sure_pairs_are_kept_within_a_group_that_is_not_separable_step_by_step() -> None:
    """Measured size > verb > color; only size over color is sure."""
    pairs = {("verb", "size"): UNSURE, ("verb", "color"): (0.1, -0.1, 0.3), ("color", "size"): SURE}
    found = measured_order(
        metrics(policy("p", pairs, {"size": 2, "verb": 1, "color": 0})), ("color", "verb", "size")
    )
    assert found.order == ("verb", "size", "color")
    assert len(found.remarks) == 2
    assert "verb before size" in found.remarks[0]
    assert "other pairs, which are sure, decide: verb before color" in found.remarks[1]


def test_the_whole_hierarchy_decides_where_there_is_one() -> None:
    pairs = {("color", "object"): SURE, ("color", "verb"): (0.9, 0.8, 1.0), ("verb", "object"): SURE}
    found = measured_order(
        metrics(policy("p", pairs, {"object": 2, "color": 1, "verb": 0})), ("verb", "color")
    )
    assert (found.order, found.remarks) == (("color", "verb"), ())


def test_equal_scores_stand_by_the_pair_between_them() -> None:
    found = measured_order(
        metrics(policy("p", {("color", "object"): SURE}, {"color": 1, "object": 1, "verb": 1})),
        ("color", "object"),
    )
    assert (found.order, found.remarks) == (("object", "color"), ())


def test_a_sure_difference_within_the_tie_threshold_is_a_tie() -> None:
    found = measured_order(
        metrics(policy("p", {("color", "object"): (-0.04, -0.05, -0.03)})), ("color", "object")
    )
    assert found.order == ("color", "object")
    assert "is a tie at the threshold of 0.05" in found.remarks[0]


def test_policies_must_agree_or_be_named() -> None:
    one = policy("one", {("color", "object"): SURE})
    other = policy("other", {("color", "object"): (0.4, 0.1, 0.6)})
    with pytest.raises(UserError, match=r"'one' object > color; 'other' color > object.*--policy"):
        measured_order(metrics(one, other), ("color", "object"))
    assert measured_order(metrics(one, other), ("color", "object"), "other").order == ("color", "object")
    same = measured_order(metrics(one, policy("two", {("color", "object"): SURE})), ("color", "object"))
    assert (same.order, same.source) == (("object", "color"), "measured (one, two)")
    unsure = [policy(name, {("color", "object"): UNSURE}) for name in ("one", "two")]
    nothing = measured_order(metrics(*unsure), ("color", "object"))
    assert nothing.source == "published order, nothing separable (one, two)"
    mixed = measured_order(
        metrics(unsure[0], policy("s", {("color", "object"): (0.4, 0.1, 0.6)})), ("color", "object")
    )
    assert mixed.source == "measured in part (one, s)"
    with pytest.raises(UserError, match="Did you mean 'other'"):
        measured_order(metrics(one, other), ("color", "object"), "othr")


@pytest.mark.parametrize(
    "content", [{}, {"policies": [{"name": "p", "cells": []}]}, {"policies": "p"}, {"policies": []}]
)
def test_a_run_without_pairs_is_refused(content: Any) -> None:
    with pytest.raises(UserError, match="plan from"):
        measured_order(content, ("color", "object"))


@given(
    st.permutations(NAMES),
    st.lists(st.floats(-0.99, 0.99).filter(lambda v: abs(v) > 0.051), min_size=10, max_size=10),
    st.lists(st.floats(0, 1), min_size=10, max_size=10),
)
def test_every_factor_stands_once_and_sure_neighbours_are_never_turned(
    names: list[str], values: list[float], widths: list[float]
) -> None:
    two = [(a, b) for i, a in enumerate(NAMES) for b in NAMES[i + 1 :]]
    pairs: dict[tuple[str, str], FDR] = {
        pair: (v, max(v - w, -1), min(v + w, 1)) for pair, v, w in zip(two, values, widths, strict=True)
    }
    found = measured_order(metrics(policy("p", pairs)), names)
    assert sorted(found.order) == sorted(NAMES)
    if all(low > 0 or high < 0 for _, low, high in pairs.values() if low is not None and high is not None):
        strong = {
            n: sum((v > 0.0) == (n == a) for (a, b), v in zip(two, values, strict=True) if n in (a, b))
            for n in NAMES
        }
        if sorted(strong.values()) == [0, 1, 2, 3, 4]:  # no cycles
            assert list(found.order) == sorted(NAMES, key=lambda n: -strong[n])
            assert found.remarks == ()


def test_the_order_of_a_grammar_is_not_called_published() -> None:
    pairs = metrics(policy("p", {("grip", "color"): UNSURE}))
    found = measured_order(pairs, ("color", "grip"), fallback=("grip", "color"))
    assert found.source == "grammar's order, nothing separable (p)"
    assert "they stand in the grammar's order: grip before color" in found.remarks[0]


def test_stated_orders() -> None:
    assert stated_order(("size", "color")).order == ("color", "size")
    assert stated_order(("size", "color"), ("size", "verb", "color")).order == ("size", "color")
    assert stated_order(("grip", "color"), None, ("grip", "color")).source == "grammar"
    assert stated_order(("verb", "color"), None, ("verb", "color")).source == "published"
    with pytest.raises(UserError, match="where grip stands"):
        stated_order(("grip", "color"))
    with pytest.raises(UserError, match="more than once"):
        ranked(("color",), ("color", "color"))
    assert ranked(PUBLISHED_ORDER[::-1], PUBLISHED_ORDER) == PUBLISHED_ORDER
