"""Differences between strategies: what is paired with what, when one is real, what would separate it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.metrics.comparison import (
    GROUNDS,
    Trial,
    by_seed,
    difference,
    needed,
    part_of,
    success,
)
from heedful.metrics.paired import mcnemar
from heedful.metrics.two_way import TwoWay

CELLS = tuple(f"cell {i}" for i in range(12))


def trials(
    rate: float, rng: np.random.Generator, collected: int = 4, seeds: int = 3, spread: float = 0.0
) -> list[Trial]:
    """Return six rollouts a cell and seed; the first ``collected`` cells were collected."""
    found = []
    for seed in range(seeds):
        luck = rng.normal(0, spread)
        for i, cell in enumerate(CELLS):
            for k in range(6):
                good = bool(rng.random() < rate + luck)
                found.append(Trial(f"{cell}/{k}", cell, seed, good, i < collected))
    return found


def test_parts_split_the_trials() -> None:
    own = trials(0.5, np.random.default_rng(0))
    shown, held_out = part_of(own, "collected"), part_of(own, "held_out")
    assert {t.cell for t in shown} == set(CELLS[:4])
    assert sorted([*shown, *held_out], key=str) == sorted(part_of(own, "all"), key=str)


def test_success_is_pooled_and_by_seed() -> None:
    own = trials(0.5, np.random.default_rng(0))
    pooled, seeds = success(own), by_seed(own)
    assert pooled.trials == len(own) == sum(one.trials for one in seeds.values())
    assert pooled.successes == sum(one.successes for one in seeds.values())
    assert pooled.rate.value == pooled.naive.value == pooled.successes / len(own)
    assert success([]).rate.value is None


def test_pairs_are_the_same_case_under_the_same_training_seed() -> None:
    a = [Trial("x", "c", 0, True, False), Trial("x", "c", 1, True, False), Trial("y", "d", 0, False, False)]
    b = [Trial("x", "c", 0, False, False), Trial("z", "d", 0, True, False)]
    found = difference(a, b, "all")
    assert found is not None
    assert (found.value.n, found.a_only, found.b_only) == (1, 1, 0)


def test_cells_that_either_collected_are_not_both_held_out() -> None:
    rng = np.random.default_rng(0)
    a, b = trials(0.5, rng, collected=4), trials(0.5, rng, collected=7)
    found = difference(a, b, "both_held_out")
    assert found is not None
    assert found.value.n == (12 - 7) * 6 * 3
    assert found.p_value == mcnemar(found.a_only or 0, found.b_only or 0)


def test_own_held_out_sets_are_not_pairs() -> None:
    rng = np.random.default_rng(0)
    a, b = trials(0.7, rng, collected=4), trials(0.3, rng, collected=7)
    found = difference(a, b, "own_held_out")
    assert found is not None
    rates = [success(part_of(own, "held_out")).rate.value or 0 for own in (a, b)]
    assert found.value.value == pytest.approx(rates[0] - rates[1])
    assert found.p_value is None
    assert found.value.n == (8 + 5) * 18


def test_a_large_difference_is_real_and_none_is_not() -> None:
    rng = np.random.default_rng(0)
    good, bad, as_bad = trials(0.9, rng), trials(0.4, rng), trials(0.4, rng)
    for ground in GROUNDS:
        found = difference(good, bad, ground)
        assert found is not None and found.real and found.need is None
        none = difference(bad, as_bad, ground)
        assert none is not None and not none.real


def test_one_training_seed_never_makes_a_difference_real() -> None:
    rng = np.random.default_rng(0)
    found = difference(trials(0.95, rng, seeds=1), trials(0.1, rng, seeds=1), "all")
    assert found is not None
    assert found.value.low is not None and found.value.low > 0
    assert not found.real


def test_three_trainings_that_disagree_count_as_three_observations() -> None:
    rng = np.random.default_rng(3)
    a, b = trials(0.6, rng, spread=0.25), trials(0.45, rng)
    found = difference(a, b, "all")
    assert found is not None and found.half_width is not None
    assert found.naive.low is not None and found.naive.high is not None
    assert found.half_width > 2 * (found.naive.high - found.naive.low) / 2


def test_every_pair_the_same_falls_back_on_the_naive_interval() -> None:
    rng = np.random.default_rng(0)
    a = [replace(t, success=True) for t in trials(0.5, rng)]
    b = [replace(t, success=False) for t in a]
    found = difference(a, b, "all")
    assert found is not None and found.real
    assert (found.value.value, found.half_width) == (1.0, None)
    assert found.value.low == found.naive.low
    nothing = difference(a, a, "all")
    assert nothing is not None and not nothing.real and nothing.value.value == 0


@given(st.integers(0, 1000))
def test_turning_two_strategies_round_turns_the_sign(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = trials(0.6, rng, collected=3), trials(0.5, rng, collected=5)
    for ground in GROUNDS:
        one, other = difference(a, b, ground), difference(b, a, ground)
        assert one is not None and other is not None
        assert one.value.value == pytest.approx(-(other.value.value or 0))
        assert one.value.low == pytest.approx(-(other.value.high or 0))
        assert one.real == other.real


def test_seeds_needed_follow_the_formula_where_only_seeds_differ() -> None:
    parts = TwoWay(cells=0.0, seeds=0.01, residual=0.0, cell_count=36, seed_count=3)
    need = needed(0.1, parts, 0.0)
    # Smallest S' with t(S' - 1) sqrt(0.01 x 3 / S') < 0.1: 14 gives 2.160 x 0.0463 = 0.1000, just above.
    assert need.seeds == 15
    assert need.rollouts is None


def test_what_differs_from_cell_to_cell_stays_however_many_seeds_there_are() -> None:
    parts = TwoWay(cells=0.01, seeds=0.001, residual=0.0, cell_count=36, seed_count=3)
    assert needed(0.1, parts, 0.0).seeds is None


def test_more_rollouts_help_where_the_noise_is_that_of_rollouts() -> None:
    parts = TwoWay(cells=0.004, seeds=0.004, residual=0.004, cell_count=36, seed_count=3)
    need = needed(0.1, parts, 0.0039)
    assert need.rollouts is not None and 1 < need.rollouts < 20
    assert need.seeds is not None and need.seeds > 3


def test_nothing_separates_no_difference() -> None:
    assert needed(0.0, TwoWay(0.1, 0.1, 0.1, 9, 3), 0.01).seeds is None


def test_strategies_without_common_ground_are_not_compared() -> None:
    one = [Trial("x", "c", 0, True, True)]
    assert difference(one, one, "both_held_out") is None
    assert difference(one, one, "own_held_out") is None
    assert difference(one, [], "all") is None
