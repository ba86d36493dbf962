"""Success rates with the Wilson score interval."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from heedful.spec.rollout import Estimate


def normal_quantile(level: float) -> float:
    """Return z such that a standard normal lies within +-z with probability ``level``.

    >>> round(normal_quantile(0.95), 4)
    1.96
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    return NormalDist().inv_cdf(0.5 + level / 2)


def wilson_bounds(rate: float, n: float, quantile: float) -> tuple[float, float]:
    """Return the ends of the score interval of a rate, in [0, 1].

    The rates p that solve (rate - p)^2 = quantile^2 p (1 - p) / n (Wilson, 1927).

    Args:
        rate: Observed rate in [0, 1].
        n: Observations behind it, above 0; an effective number need not be whole.
        quantile: Of the normal or the t distribution.
    """
    z2 = quantile * quantile
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = quantile / (1 + z2 / n) * sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    low = 0.0 if rate == 0 else max(0.0, centre - half)
    high = 1.0 if rate == 1 else min(1.0, centre + half)
    return low, high


def wilson(successes: int, n: int, level: float = 0.95) -> Estimate:
    """Return successes / n with its Wilson score interval.

    The interval keeps its width at the edge: ten of ten is not [1, 1].

    Args:
        successes: Between 0 and ``n``.
        n: Trials; with none the rate is undefined.
        level: Confidence level in (0, 1).

    >>> ten = wilson(10, 10)
    >>> ten.value, round(ten.low, 3), ten.high
    (1.0, 0.722, 1.0)
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie in 0..{n}, got {successes}")
    if n == 0:
        return Estimate(None, None, None, 0, "Wilson", level)
    low, high = wilson_bounds(successes / n, n, normal_quantile(level))
    return Estimate(successes / n, low, high, n, "Wilson", level)
