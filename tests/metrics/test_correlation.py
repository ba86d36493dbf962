import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from heedful.metrics.correlation import pearson

numbers = st.floats(-1, 1).map(lambda x: round(x, 3))


@given(st.lists(st.tuples(numbers, numbers), min_size=5, max_size=40))
def test_r_p_and_interval_are_those_of_scipy(points: list[tuple[float, float]]) -> None:
    x, y = [a for a, _ in points], [b for _, b in points]
    found = pearson(x, y)
    if max(x) - min(x) < 1e-2 or max(y) - min(y) < 1e-2 or abs(found.r.value or 1.0) > 1 - 1e-9:
        return
    theirs = pearsonr(x, y)
    low, high = theirs.confidence_interval(0.95)
    assert found.r.value == pytest.approx(theirs.statistic, abs=1e-9)
    assert found.p_value == pytest.approx(theirs.pvalue, abs=1e-9)
    assert (found.r.low, found.r.high) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize(("x", "y"), [([], []), ([1.0, 2.0], [3.0, 1.0]), ([1.0] * 5, [1.0, 2, 3, 4, 5])])
def test_too_few_points_or_a_constant_column_have_no_correlation(x: list[float], y: list[float]) -> None:
    found = pearson(x, y)
    assert (found.r.value, found.r.low, found.r.high, found.p_value) == (None, None, None, None)
    assert found.r.n == len(x)


def test_three_points_have_r_but_no_interval_and_a_line_has_no_interval_either() -> None:
    three = pearson([0.0, 1.0, 2.0], [0.0, 1.0, 1.5])
    assert three.r.value is not None
    assert three.p_value is not None
    assert three.r.low is None
    line = pearson([0.0, 1.0, 2.0, 3.0], [6.0, 4.0, 2.0, 0.0])
    assert line.r.value == -1
    assert line.r.low is None


def test_columns_of_different_length_are_a_mistake_of_the_programmer() -> None:
    with pytest.raises(ValueError, match="equal length"):
        pearson([1.0, math.pi], [1.0])
