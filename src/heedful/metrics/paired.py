"""Two policies on the same seeds: exact McNemar test and Newcombe's paired difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from heedful.metrics.rates import normal_quantile, wilson_bounds
from heedful.spec.rollout import Estimate


@dataclass(frozen=True)
class PairedComparison:
    """Two policies, A and B, over episodes that share their seeds.

    Attributes:
        both, a_only, b_only, neither: Episodes by who succeeded.
        difference: Success rate of A minus that of B, with Newcombe's interval.
        p_value: Exact two-sided McNemar test of equal success.
    """

    both: int
    a_only: int
    b_only: int
    neither: int
    difference: Estimate
    p_value: float


def compare(a: Sequence[bool], b: Sequence[bool], level: float = 0.95) -> PairedComparison:
    """Return how policy A compares with policy B.

    Args:
        a: Success of A on each seed, in the same order as ``b``.
        b: Success of B.
        level: Confidence level of the difference.

    >>> result = compare([True] * 9 + [False], [True] * 3 + [False] * 7)
    >>> result.a_only, result.b_only, round(result.p_value, 5)
    (6, 0, 0.03125)
    """
    pairs = list(zip(a, b, strict=True))
    both = sum(1 for x, y in pairs if x and y)
    a_only = sum(1 for x, y in pairs if x and not y)
    b_only = sum(1 for x, y in pairs if y and not x)
    neither = len(pairs) - both - a_only - b_only
    return PairedComparison(
        both=both,
        a_only=a_only,
        b_only=b_only,
        neither=neither,
        difference=paired_difference(both, a_only, b_only, neither, level),
        p_value=mcnemar(a_only, b_only),
    )


def mcnemar(a_only: int, b_only: int) -> float:
    """Return the exact two-sided p-value that A and B succeed equally often.

    Only the episodes on which they differ count; under the null each goes to A or B with
    probability 1/2: p = min(1, 2 P(Binomial(a_only + b_only, 1/2) <= min(a_only, b_only))).

    >>> mcnemar(1, 1), mcnemar(0, 5)
    (1.0, 0.0625)
    """
    differing = a_only + b_only
    tail = term = 1
    for k in range(min(a_only, b_only)):
        term = term * (differing - k) // (k + 1)  # the next binomial coefficient, exactly
        tail += term
    return min(1.0, 2 * tail / (1 << differing))


def paired_difference(both: int, a_only: int, b_only: int, neither: int, level: float = 0.95) -> Estimate:
    """Return rate(A) - rate(B) with Newcombe's square-and-add interval for paired data.

    Method 10 of Newcombe, "Improved confidence intervals for the difference between
    binomial proportions based on paired data" (Statistics in Medicine 17, 1998): the
    Wilson limits of both rates, joined under their continuity-corrected correlation.

    Args:
        both: Episodes on which both succeeded.
        a_only: Episodes on which only A succeeded.
        b_only: Episodes on which only B succeeded.
        neither: Episodes on which neither succeeded.
        level: Confidence level in (0, 1).

    >>> shown = paired_difference(36, 12, 2, 0)
    >>> round(shown.value, 4), round(shown.low, 4), round(shown.high, 4)
    (0.2, 0.0569, 0.3404)
    """
    n = both + a_only + b_only + neither
    method = "Newcombe, paired"
    if n == 0:
        return Estimate(None, None, None, 0, method, level)
    z = normal_quantile(level)
    rate_a, rate_b = (both + a_only) / n, (both + b_only) / n
    low_a, high_a = wilson_bounds(rate_a, n, z)
    low_b, high_b = wilson_bounds(rate_b, n, z)
    phi = _correlation(both, a_only, b_only, neither)
    difference = rate_a - rate_b
    below = _joined(rate_a - low_a, high_b - rate_b, phi)
    above = _joined(high_a - rate_a, rate_b - low_b, phi)
    return Estimate(difference, difference - below, difference + above, n, method, level)


def _correlation(both: int, a_only: int, b_only: int, neither: int) -> float:
    margins = (both + a_only) * (b_only + neither) * (both + b_only) * (a_only + neither)
    if margins == 0:
        return 0.0
    product = both * neither - a_only * b_only
    n = both + a_only + b_only + neither
    corrected = max(product - n / 2, 0.0) if product > 0 else float(product)
    return corrected / sqrt(margins)


def _joined(first: float, second: float, phi: float) -> float:
    return sqrt(max(first * first - 2 * phi * first * second + second * second, 0.0))
