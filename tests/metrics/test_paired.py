import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.metrics.paired import compare, mcnemar, paired_difference

COUNTS = st.integers(0, 60)


def test_mcnemar_is_the_two_sided_sign_test() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(10, 0) == pytest.approx(2 / 2**10)
    assert mcnemar(8, 2) == pytest.approx(2 * (1 + 10 + 45) / 2**10)


def test_mcnemar_copes_with_thousands_of_episodes() -> None:
    assert 0 < mcnemar(3000, 2700) < 1e-3


def test_perfect_agreement_keeps_a_width() -> None:
    found = paired_difference(30, 0, 0, 0)
    assert found.value == 0
    assert found.low is not None and found.low < -0.05
    assert found.high is not None and found.high > 0.05


def test_positive_correlation_tightens_the_difference() -> None:
    together, apart = paired_difference(40, 10, 0, 50), paired_difference(10, 40, 30, 20)
    assert together.value == pytest.approx(apart.value)
    assert together.low is not None and together.high is not None
    assert apart.low is not None and apart.high is not None
    assert together.high - together.low < apart.high - apart.low


def test_compare_counts_each_kind_of_episode() -> None:
    found = compare([True, True, False, False, True], [True, False, True, False, True])
    assert (found.both, found.a_only, found.b_only, found.neither) == (2, 1, 1, 1)
    assert found.difference.value == 0
    assert found.p_value == 1.0


def test_policies_with_different_episodes_cannot_be_paired() -> None:
    with pytest.raises(ValueError):
        compare([True], [True, False])


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_swapping_the_policies_flips_the_interval(both: int, a: int, b: int, neither: int) -> None:
    found, swapped = paired_difference(both, a, b, neither), paired_difference(both, b, a, neither)
    if both + a + b + neither == 0:
        assert found.value is None
        return
    assert found.value is not None and found.low is not None and found.high is not None
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert [swapped.low, swapped.high] == pytest.approx([-found.high, -found.low])
    assert mcnemar(a, b) == mcnemar(b, a)
