import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planning_doubles import NAMES, grid

from heedful.planning.grounding import under_grounded
from heedful.planning.strategies import STRATEGIES, expected_step, strategy_cells, strategy_named
from heedful.spec.errors import UserError
from heedful.spec.plan import distance

SIZES = st.lists(st.integers(1, 6), min_size=1, max_size=5)


def steps(cells: list[tuple[str, ...]]) -> set[tuple[int, ...]]:
    """Return cells as value numbers."""
    return {tuple(int(value[-1]) for value in cell) for cell in cells}


@pytest.mark.parametrize(
    ("strategy", "factors", "count"),
    [
        *(("l", n, count) for n, count in ((2, 11), (3, 16), (5, 26))),
        *(("v", n, count) for n, count in ((2, 15), (3, 20), (5, 26))),
        *(("v-full", n, count) for n, count in ((2, 24), (3, 33), (5, 51))),
        *(("complete", n, 6**n) for n in (1, 2, 3, 5)),
    ],
)
def test_cells_for_six_values_each(strategy: str, factors: int, count: int) -> None:
    assert len(strategy_cells(strategy, grid(*[6] * factors), NAMES)) == count


def test_v_of_two_factors_is_the_published_column_diagonal_and_sub_diagonal() -> None:
    found = steps(strategy_cells("v", grid(6, 6), ("color", "object")))  # object is under-grounded
    column = {(j, 0) for j in range(6)}
    diagonal = {(j, j) for j in range(6)}
    assert found == column | diagonal | {(j + 1, j) for j in range(5)}


def test_v_turns_with_the_order() -> None:
    found = steps(strategy_cells("v", grid(6, 6), ("object", "color")))
    assert found == {(b, a) for a, b in steps(strategy_cells("v", grid(6, 6), ("color", "object")))}


def test_v_of_three_factors_has_a_column_for_each_of_the_two_lowest() -> None:
    found = steps(strategy_cells("v", grid(4, 4, 4), NAMES))
    below_spatial = {(0, j, 0) for j in range(4)}  # spatial stays, object above it is swept
    below_object = {(j, 0, 0) for j in range(4)}  # object stays, color above it is swept
    diagonals = {(j, j, j) for j in range(4)} | {(j + 1, j, j) for j in range(3)}
    assert found == below_spatial | below_object | diagonals


def test_v_full_is_the_published_algorithm() -> None:
    n, k = 3, 5
    found = steps(strategy_cells("v-full", grid(*[k] * n), NAMES))
    spokes = {tuple(j if i == at else 0 for at in range(n)) for i in range(n) for j in range(k)}
    subs = {tuple(j if i == at else j - 1 for at in range(n)) for i in range(n) for j in range(1, k)}
    assert found == spokes | {(j,) * n for j in range(k)} | subs


def test_a_factor_that_ran_out_of_values_stays_at_its_last() -> None:
    found = steps(strategy_cells("v", grid(5, 3), ("color", "object")))
    assert {(0, 0), (1, 1), (2, 2), (3, 2), (4, 2)} <= found  # the diagonal
    assert {(1, 0), (2, 1), (3, 2), (4, 2)} <= found  # the sub-diagonal
    assert len(found) == 5 + 4 + 1


@given(SIZES, st.sampled_from([s for s in STRATEGIES if s != "random"]), st.data())
def test_cells_are_different_and_begin_at_the_base(
    sizes: list[int], strategy: str, data: st.DataObject
) -> None:
    base = [data.draw(st.integers(0, k - 1)) for k in sizes]
    one = grid(*sizes, base=base)
    cells = strategy_cells(strategy, one, NAMES)
    assert len(set(cells)) == len(cells)
    assert all(one.check(cell) == cell for cell in cells)
    assert one.base in cells
    if strategy == "l":
        assert len(cells) == 1 + sum(k - 1 for k in sizes)
        assert all(distance(cell, one.base) <= 1 for cell in cells)
    elif strategy == "complete":
        assert len(cells) == math.prod(sizes)
    else:  # every value of every factor is met
        assert all({c[i] for c in cells} == set(f.values) for i, f in enumerate(one.factors))


@given(SIZES)
def test_v_is_a_part_of_v_full(sizes: list[int]) -> None:
    one = grid(*sizes)
    assert set(strategy_cells("v", one, NAMES)) <= set(strategy_cells("v-full", one, NAMES))


def test_under_grounded_factors_follow_the_published_rule() -> None:
    assert under_grounded(("color",), NAMES) == ()
    assert under_grounded(("size", "color"), NAMES) == ("size",)
    assert under_grounded(("verb", "spatial", "object"), NAMES) == ("verb", "spatial")
    assert under_grounded(NAMES[:4], NAMES) == ("verb", "spatial", "object")
    assert under_grounded(NAMES, NAMES) == ("size", "verb", "spatial")
    assert under_grounded(("color", "object"), ("verb", "object", "color")) == ("color",)


@pytest.mark.parametrize("text", ["V-full", "v_full", "VFull", " v full "])
def test_strategies_are_named_in_any_case(text: str) -> None:
    assert strategy_named(text) == "v-full"


def test_an_unknown_strategy_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match="Did you mean 'complete'"):
        strategy_named("compleet")
    with pytest.raises(UserError, match="does not say where size stands"):
        strategy_cells("v", grid(3, 3, 3, 3, 3), NAMES[:4])


def test_the_expected_step_is_the_published_one_in_the_limit() -> None:
    assert expected_step([6, 6], replacement=True) == pytest.approx(5 / 6 + 5 / 6)
    assert expected_step([6, 6]) == pytest.approx(expected_step([6, 6], replacement=True) * 36 / 35)
    big = [40, 50, 60]
    assert expected_step(big) == pytest.approx(sum((k - 1) / k for k in big), rel=1e-4)
    assert expected_step([4]) == pytest.approx(1)  # two different cells differ in the one factor
