from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning_doubles import NAMES, grid, least_by_programme, least_by_trying

import heedful.planning.staircase as module
from heedful.planning.path_search import improved_path
from heedful.planning.staircase import least_changes_bound, staircase
from heedful.planning.strategies import strategy_cells
from heedful.spec.errors import UserError
from heedful.spec.plan import Configuration, distance, factor_changes


@st.composite
def cell_sets(draw: st.DrawFn, most: int) -> list[Configuration]:
    """Draw different cells of a grid with unequal k, N up to 5, in any order."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    cell = st.tuples(*(st.integers(0, k - 1).map(str) for k in sizes))
    return draw(st.lists(cell, min_size=1, max_size=most, unique=True))


@settings(deadline=None)
@given(cell_sets(30))
def test_it_orders_the_same_cells_and_never_costs_more_than_they_did(cells: list[Configuration]) -> None:
    found = staircase(cells)
    assert sorted(found) == sorted(cells)
    assert least_changes_bound(cells) <= factor_changes(found) <= factor_changes(cells)


@settings(deadline=None)
@given(cell_sets(20), st.data())
def test_it_starts_where_it_is_told_to(cells: list[Configuration], data: st.DataObject) -> None:
    start = data.draw(st.sampled_from(cells))
    found = staircase(cells, start)
    assert found[0] == start
    assert sorted(found) == sorted(cells)
    assert factor_changes(found) <= factor_changes([start, *(c for c in cells if c != start)])
    assert factor_changes(staircase(cells)) <= factor_changes(found)


@settings(deadline=None, max_examples=60)
@given(cell_sets(7))
def test_small_sets_get_the_least_there_is(cells: list[Configuration]) -> None:
    assert factor_changes(staircase(cells)) == least_by_trying(cells)


@settings(deadline=None, max_examples=25)
@given(cell_sets(8))
def test_the_search_finds_it_too(cells: list[Configuration]) -> None:
    if len(cells) < 4:
        return
    away = np.array([[distance(a, b) for b in cells] for a in cells])
    path = improved_path(away, 0, at_first=False)
    assert sorted(path) == list(range(len(cells)))
    assert factor_changes([cells[i] for i in path]) == least_by_trying(cells)
    begun = improved_path(away, -(10**9), at_first=True)
    assert begun[0] == 0
    assert factor_changes([cells[i] for i in begun]) == factor_changes(staircase(cells, cells[0]))


@pytest.mark.parametrize("sizes", [(6, 6), (3, 4, 5), (2, 1, 3), (6, 6, 6, 6, 5)])
def test_a_full_grid_changes_one_factor_at_a_time(sizes: tuple[int, ...]) -> None:
    cells = list(product(*([str(j) for j in range(k)] for k in sizes)))
    found = staircase(cells)
    assert sorted(found) == sorted(cells)
    assert factor_changes(found) == len(cells) - 1
    assert found[0] == cells[0]


MINIMA = {
    **{("l", n): 5 * n + n - 2 for n in (2, 3, 4, 5)},  # two spokes meet at base for free
    ("v", 2): 14,  # every step changes one factor
    ("v", 3): 24,
    ("v", 5): 42,
    ("v-full", 2): 23,  # every step changes one factor
    ("v-full", 3): 42,
    ("v-full", 5): 80,
}


@pytest.mark.parametrize(("strategy", "factors"), MINIMA)
def test_the_strategies_get_their_known_minimum(strategy: str, factors: int) -> None:
    cells = strategy_cells(strategy, grid(*[6] * factors), NAMES)
    assert factor_changes(staircase(cells)) == MINIMA[strategy, factors]


@pytest.mark.parametrize(("strategy", "factors"), MINIMA)
def test_integer_programming_proves_those_minima(strategy: str, factors: int) -> None:
    cells = strategy_cells(strategy, grid(*[6] * factors), NAMES)
    assert least_by_programme(cells) == MINIMA[strategy, factors]


def test_unequal_spokes_have_the_closed_form_too() -> None:
    cells = strategy_cells("l", grid(4, 2, 6, 3), NAMES)
    assert factor_changes(staircase(cells)) == (3 + 1 + 5 + 2) + 2


def test_it_is_deterministic_and_starts_at_the_base_where_that_is_free() -> None:
    cells = strategy_cells("v", grid(6, 6), NAMES)
    assert staircase(cells)[0] == cells[0]
    reordered = strategy_cells("v-full", grid(6, 6, 6), NAMES)
    first = staircase(reordered)
    module._ordered.cache_clear()
    assert staircase(reordered) == first


def test_repeated_cells_are_ordered_once_and_a_foreign_start_is_refused() -> None:
    assert staircase([("a",), ("b",), ("a",)]) == [("a",), ("b",)]
    with pytest.raises(UserError, match="none of the 2 cells"):
        staircase([("a",), ("b",)], ("c",))
    assert staircase([]) == []
