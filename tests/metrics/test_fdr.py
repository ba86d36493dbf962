import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from heedful.metrics.fdr import ConflictCounts, fdr, fdr_posterior, fdr_value, naive_fdr
from heedful.metrics.rates import wilson

ROWS = st.lists(
    st.builds(
        ConflictCounts,
        value_pair=st.sampled_from("abcdef"),
        training_seed=st.sampled_from([0, 1, 2]),
        n1=st.integers(0, 12),
        n2=st.integers(0, 12),
    ),
    max_size=20,
)


def _swapped(rows: list[ConflictCounts]) -> list[ConflictCounts]:
    return [ConflictCounts(r.value_pair, r.training_seed, r.n2, r.n1) for r in rows]


def test_fdr_is_undefined_when_nothing_was_overfit() -> None:
    rows = [ConflictCounts("a", 0, 0, 0)]
    assert fdr_value(0, 0) is None
    for found in (fdr(rows, np.random.default_rng(0)), naive_fdr(0, 0), fdr([], np.random.default_rng(0))):
        assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)
    assert np.isnan(fdr_posterior(rows, np.random.default_rng(0))).all()


def test_naive_interval_is_the_transformed_wilson_interval() -> None:
    found, p = naive_fdr(80, 20), wilson(80, 100)
    assert found.value == pytest.approx(0.6)
    assert p.low is not None and p.high is not None
    assert [found.low, found.high] == pytest.approx([2 * p.low - 1, 2 * p.high - 1])


def test_a_policy_that_always_follows_one_factor_is_not_certain_to() -> None:
    rows = [ConflictCounts(f"pair {i}", 0, 12, 0) for i in range(15)]
    found = fdr(rows, np.random.default_rng(0))
    assert found.value == found.high == 1.0
    assert found.low is not None and 0.9 < found.low < 0.96


def test_value_pairs_with_opposite_habits_leave_the_sign_open() -> None:
    """As measured: narrow over rollouts, wide over value pairs."""
    rows = [ConflictCounts(f"pair {i}", 0, *((16, 0) if i % 3 else (0, 16))) for i in range(15)]
    found, naive = fdr(rows, np.random.default_rng(0)), naive_fdr(160, 80)
    assert found.value == naive.value == pytest.approx(1 / 3)
    assert naive.low is not None and naive.low > 0.2
    assert found.low is not None and found.low < 0


def test_trainings_that_disagree_widen_the_interval() -> None:
    agree = [ConflictCounts(f"{i}", seed, 9, 3) for i in range(15) for seed in range(3)]
    split = [ConflictCounts(f"{i}", s, *((12, 0), (9, 3), (6, 6))[s]) for i in range(15) for s in range(3)]
    narrow, wide = fdr(agree, np.random.default_rng(0)), fdr(split, np.random.default_rng(0))
    assert narrow.value == wide.value
    assert narrow.low is not None and narrow.high is not None
    assert wide.low is not None and wide.high is not None
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
    assert "3 training seeds" in wide.method


def test_one_training_seed_says_what_it_cannot_know() -> None:
    rows = [ConflictCounts("a", 7, 3, 1), ConflictCounts("b", 7, 3, 2)]
    assert "variation between trainings unknown" in fdr(rows, np.random.default_rng(0)).method


def test_same_generator_same_interval() -> None:
    rows = [ConflictCounts(f"{i}", i % 2, i, 9 - i) for i in range(10)]
    assert fdr(rows, np.random.default_rng(5)) == fdr(rows, np.random.default_rng(5))


def test_posterior_is_centred_on_the_fdr_and_as_wide_as_its_interval() -> None:
    rng = np.random.default_rng(0)
    rows = [ConflictCounts(f"{i}", 0, *(int(x) for x in rng.multinomial(12, [0.7, 0.3]))) for i in range(30)]
    found, draws = fdr(rows, rng), fdr_posterior(rows, rng, draws=20_000)
    assert found.value is not None and found.low is not None and found.high is not None
    assert draws.mean() == pytest.approx(found.value, abs=0.02)
    low, high = np.quantile(draws, [0.025, 0.975])
    assert high - low == pytest.approx(found.high - found.low, rel=0.2)


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_interval_holds_the_value_and_is_never_tighter_than_the_naive_one(
    rows: list[ConflictCounts],
) -> None:
    n1, n2 = sum(r.n1 for r in rows), sum(r.n2 for r in rows)
    found, naive = fdr(rows, np.random.default_rng(0), draws=200), naive_fdr(n1, n2)
    assert found.value == naive.value
    if found.value is None:
        assert found.low is None and found.high is None
        return
    assert found.low is not None and found.high is not None
    assert naive.low is not None and naive.high is not None
    assert -1 <= found.low <= naive.low + 1e-9
    assert naive.high - 1e-9 <= found.high <= 1
    assert found.low < found.high


@given(ROWS)
@settings(max_examples=40, deadline=None)
def test_swapping_the_factors_flips_everything(rows: list[ConflictCounts]) -> None:
    found = fdr(rows, np.random.default_rng(0), draws=200)
    flipped = fdr(_swapped(rows), np.random.default_rng(0), draws=200)
    if found.value is None or found.low is None or found.high is None:
        assert flipped.value is None
        return
    assert flipped.value == -found.value
    assert flipped.low == pytest.approx(-found.high, abs=1e-9)
    assert flipped.high == pytest.approx(-found.low, abs=1e-9)


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-x)))


@pytest.mark.slow
@pytest.mark.parametrize(("mean", "seeds"), [(0.0, 1), (0.0, 3), (1.5, 1), (3.0, 3)])
def test_the_interval_holds_the_truth_as_often_as_it_says(mean: float, seeds: int) -> None:
    """Simulated policies whose value pairs and trainings have habits of their own."""
    rng = np.random.default_rng(11)
    pair_sd, seed_sd, studies = 1.0, 0.0 if seeds == 1 else 0.3, 300
    drawn = mean + np.hypot(pair_sd, seed_sd) * rng.normal(size=400_000)
    truth = 2 * float(_sigmoid(drawn).mean()) - 1
    held = naive_held = 0
    for _ in range(studies):
        habit = mean + pair_sd * rng.normal(size=(15, 1)) + seed_sd * rng.normal(size=(1, seeds))
        n1 = rng.binomial(14, _sigmoid(habit))
        rows = [
            ConflictCounts(f"{pair}", seed, int(n1[pair, seed]), 14 - int(n1[pair, seed]))
            for pair in range(15)
            for seed in range(seeds)
        ]
        found = fdr(rows, rng, draws=400)
        naive = naive_fdr(int(n1.sum()), int(n1.size * 14 - n1.sum()))
        assert found.low is not None and found.high is not None
        assert naive.low is not None and naive.high is not None
        held += found.low <= truth <= found.high
        naive_held += naive.low <= truth <= naive.high
    assert held / studies >= 0.92
    assert naive_held / studies < 0.85
