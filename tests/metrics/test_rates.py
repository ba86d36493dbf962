import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.metrics.rates import wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [  # Newcombe 1998, "Two-sided confidence intervals for the single proportion", method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_limits(successes: int, n: int, low: float, high: float) -> None:
    found = wilson(successes, n)
    assert [found.low, found.high] == pytest.approx([low, high], abs=5e-5)


def test_ten_of_ten_is_not_certain() -> None:
    found = wilson(10, 10)
    assert found.high == 1.0
    assert found.low is not None and 0.6 < found.low < 0.8


def test_a_rate_without_trials_is_undefined() -> None:
    found = wilson(0, 0)
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)


@pytest.mark.parametrize(("successes", "n"), [(3, 2), (-1, 2)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="successes"):
        wilson(successes, n)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_rate_mirrors_and_widens_with_the_level(counts: tuple[int, int]) -> None:
    successes, n = counts
    found, mirrored, wider = wilson(successes, n), wilson(n - successes, n), wilson(successes, n, 0.99)
    assert found.value is not None and found.low is not None and found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0
    assert mirrored.low == pytest.approx(1 - found.high)
    assert wider.low is not None and wider.low <= found.low
