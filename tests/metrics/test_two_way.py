"""The two-way variance against closed forms, and whether its intervals hold what they promise."""

from __future__ import annotations

from math import inf, isclose

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.metrics.rates import wilson
from heedful.metrics.two_way import TwoWay, degrees_of_freedom, half_width, t_quantile, two_way, two_way_rate


def parts_of(table: np.ndarray) -> dict[tuple[int, int], float]:
    """Return the contributions to the mean of a table of means with equal weights."""
    centred = (table - table.mean()) / table.size
    return {(c, s): float(centred[c, s]) for c in range(table.shape[0]) for s in range(table.shape[1])}


def test_balanced_tables_give_the_mean_squares_of_an_analysis_of_variance() -> None:
    table = np.random.default_rng(0).normal(size=(7, 4))
    cells, seeds = table.shape
    rows, columns = table.mean(axis=1), table.mean(axis=0)
    left = table - rows[:, None] - columns[None] + table.mean()
    found = two_way(parts_of(table))
    assert isclose(found.cells, rows.var(ddof=1) / cells)
    assert isclose(found.seeds, columns.var(ddof=1) / seeds)
    assert isclose(found.residual, (left**2).sum() / ((cells - 1) * (seeds - 1)) / table.size)


def test_a_table_that_only_seeds_move_has_the_degrees_of_freedom_of_the_seeds() -> None:
    table = np.tile([0.1, 0.4, 0.7], (20, 1))
    found = two_way(parts_of(table))
    assert found.cells == pytest.approx(0, abs=1e-30)
    assert found.degrees == pytest.approx(2)
    assert found.quantile == pytest.approx(4.3027, abs=1e-3)
    assert half_width(found) == pytest.approx(4.3027 * 0.3 / 3**0.5, rel=1e-3)


def test_one_seed_leaves_the_cells_alone() -> None:
    found = two_way(parts_of(np.asarray([[0.0], [1.0], [0.5]])))
    assert found.seeds == 0
    assert found.cells == pytest.approx(0.25 / 3)
    assert "one training seed" in found.method


def test_quantiles_and_degrees_of_freedom() -> None:
    assert degrees_of_freedom(1.0, 4, 1.0, 4) == 8
    assert degrees_of_freedom(0.0, 4, 0.0, 4) == inf
    assert t_quantile(inf) == pytest.approx(1.95996, abs=1e-4)
    assert t_quantile(2) == pytest.approx(4.30265, abs=1e-4)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), min_size=6, max_size=30))
def test_a_rate_lies_in_its_interval_and_is_never_surer_than_independent_rollouts_allow(
    counts: list[tuple[int, int]],
) -> None:
    trials = {(i // 3, i % 3): n for i, (_, n) in enumerate(counts)}
    good = {(i // 3, i % 3): min(k, n) for i, (k, n) in enumerate(counts)}
    rate, _ = two_way_rate(good, trials)
    naive = wilson(sum(good.values()), sum(trials.values()))
    assert rate.value is not None and rate.low is not None and rate.high is not None
    assert naive.low is not None and naive.high is not None
    assert 0 <= rate.low <= rate.value <= rate.high <= 1
    assert rate.high - rate.low >= 0.999 * (naive.high - naive.low)


def test_all_successes_are_not_a_sure_thing() -> None:
    grid = {(c, s): 5 for c in range(36) for s in range(3)}
    rate, _ = two_way_rate(grid, grid)
    assert rate.value == 1
    assert rate.low is not None and 0.9 < rate.low < 1


def test_no_rollouts_make_no_rate() -> None:
    rate, found = two_way_rate({}, {})
    assert (rate.value, rate.low, rate.n) == (None, None, 0)
    assert found == TwoWay(0.0, 0.0, 0.0, 0, 0)


@pytest.mark.parametrize(("cell_sd", "seed_sd"), [(0.0, 0.0), (0.15, 0.0), (0.0, 0.08), (0.15, 0.08)])
def test_intervals_of_three_seeds_hold_the_truth(cell_sd: float, seed_sd: float) -> None:
    rng = np.random.default_rng(1)
    held, draws = 0, 300
    for _ in range(draws):
        truth = rng.normal(0, cell_sd, 36)[:, None] + rng.normal(0, seed_sd, 3)[None]
        noise = rng.normal(0, 0.3, (36, 3))
        table = truth + noise
        held += abs(table.mean()) <= half_width(two_way(parts_of(table)))
    assert held / draws > 0.91
