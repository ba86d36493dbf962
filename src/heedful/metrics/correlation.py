"""Pearson's correlation with its test and its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atanh, sqrt, tanh

import numpy as np

from heedful.metrics.rates import normal_quantile
from heedful.spec.rollout import Estimate


@dataclass(frozen=True)
class Correlation:
    """How two columns go together.

    Attributes:
        r: Pearson's r in [-1, 1] with Fisher's interval; without value when undefined.
        p_value: Two-sided t test of r = 0, ``None`` when r is undefined or n < 3.
    """

    r: Estimate
    p_value: float | None


def pearson(x: Sequence[float], y: Sequence[float], level: float = 0.95) -> Correlation:
    """Return how ``x`` and ``y`` correlate.

    Undefined with fewer than three points or when a column is constant. The interval is
    tanh(atanh(r) +- z / sqrt(n - 3)) (Fisher, 1921) and needs four points that are not all on
    one line. Points that are means of unequally many rollouts count equally.

    Args:
        x: n numbers.
        y: n numbers.
        level: Confidence level in (0, 1).

    >>> found = pearson([1.0, 2.0, 3.0, 4.0, 5.0], [5.0, 4.0, 4.0, 1.0, 2.0])
    >>> round(found.r.value, 4), round(found.r.low, 4), round(found.r.high, 4), round(found.p_value, 4)
    (-0.866, -0.9911, 0.0688, 0.0577)
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two columns of equal length are needed, got {a.shape} and {b.shape}")
    n, method = len(a), "Fisher z"
    if n < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Correlation(Estimate(None, None, None, n, method, level), None)
    a, b = a - a.mean(), b - b.mean()
    r = float(np.clip((a @ b) / sqrt(float(a @ a) * float(b @ b)), -1.0, 1.0))
    if abs(r) == 1.0:
        return Correlation(Estimate(r, None, None, n, method, level), 0.0)
    from scipy.special import stdtr  # light, where scipy.stats is not

    p_value = 2 * float(stdtr(n - 2, -abs(r) * sqrt((n - 2) / (1 - r * r))))
    if n < 4:
        return Correlation(Estimate(r, None, None, n, method, level), p_value)
    half = normal_quantile(level) / sqrt(n - 3)
    return Correlation(Estimate(r, tanh(atanh(r) - half), tanh(atanh(r) + half), n, method, level), p_value)
