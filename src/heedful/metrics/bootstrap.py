"""Rates and means whose observations come in clusters: tasks, value pairs, training seeds.

Clusters are resampled whole. Two ways at once (value pairs and training seeds) use the
pigeonhole bootstrap: each way is resampled on its own and a cell counts as often as the
product says (Owen, "The pigeonhole bootstrap", Annals of Applied Statistics 1, 2007). The
nested alternative draws new value pairs inside every seed; it would treat the habit of one
value pair as independent from seed to seed, which it is not, and shrink the interval.

The bootstrap gives the variance, not the ends: percentile and BCa ends collapse to [1, 1]
when every cluster agrees, and with ten to thirty clusters they hold the truth less often
than they say. A rate p with bootstrap variance v is worth p (1 - p) / v independent
observations, its effective number; the ends are the score interval at that number, with
the t quantile for the number of clusters. At a rate of 0 or 1 the variance says nothing;
the effective number is then that of the nearest table where it does, with one observation
turned round, so that 400 of 400 and 399 of 400 have nearly the same interval.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.metrics.rates import normal_quantile, wilson_bounds
from heedful.spec.rollout import Estimate

F64 = NDArray[np.float64]
DRAWS = 2000


@dataclass(frozen=True)
class EffectiveRate:
    """A clustered rate and the independent observations it is worth.

    Attributes:
        rate: Pooled successes / trials; ``None`` without trials.
        trials: Observations counted.
        clusters: Clusters of the first way that hold any of them.
        others: Clusters of the second way; 1 when there is none.
        effective_n: Independent observations with the same uncertainty, at most ``trials``.
    """

    rate: float | None
    trials: int
    clusters: int
    others: int
    effective_n: float

    def bounds(self, level: float) -> tuple[float, float] | None:
        """Return the score interval of the rate in [0, 1], ``None`` without trials."""
        if self.rate is None:
            return None
        return wilson_bounds(self.rate, self.effective_n, _quantile(self.clusters, level))


def effective_rate(
    successes: Sequence[float],
    trials: Sequence[float],
    clusters: Sequence[Hashable],
    rng: np.random.Generator,
    others: Sequence[Hashable] | None = None,
    draws: int = DRAWS,
) -> EffectiveRate:
    """Return a pooled rate and its effective number of observations.

    Args:
        successes: Successes of each row, n rows; weighted ones need not be whole.
        trials: Trials of each row, weighted likewise; rows without trials count for nothing.
        clusters: First way: the cluster of each row, for example its value pair or task.
        rng: Source of the resampling.
        others: Second, crossed way, for example the training seed of each row.
        draws: Bootstrap draws.
    """
    tried = [i for i, count in enumerate(trials) if count]
    if not tried:
        return EffectiveRate(None, 0, 0, 0, 0.0)
    first, second = _codes([clusters[i] for i in tried]), _codes([others[i] for i in tried] if others else [])
    shape = (int(first.max()) + 1, int(second.max()) + 1 if others else 1)
    at = (first, second if others else np.zeros_like(first))
    good, all_ = (_table(shape, at, [column[i] for i in tried]) for column in (successes, trials))
    total = float(all_.sum())
    rate = float(good.sum()) / total
    variance = _variance(good, all_, rng, draws)
    n_clusters = shape[0]
    if n_clusters == 1:
        effective = 1.0
    else:
        near = rate
        if rate in (0.0, 1.0):
            turned, step = good.copy(), 1.0 if rate == 0.0 else -1.0
            turned[np.unravel_index(int(all_.argmax()), shape)] += step
            near, variance = rate + step / total, _variance(turned, all_, rng, draws)
        inflated = variance * n_clusters / (n_clusters - 1)
        effective = near * (1 - near) / inflated if inflated > 0 else total
    return EffectiveRate(rate, int(total), n_clusters, shape[1], min(effective, total))


def clustered_rate(
    successes: Sequence[int],
    trials: Sequence[int],
    clusters: Sequence[Hashable],
    rng: np.random.Generator,
    others: Sequence[Hashable] | None = None,
    draws: int = DRAWS,
    level: float = 0.95,
    named: str = "clusters",
) -> Estimate:
    """Return a pooled rate with the interval of a cluster bootstrap.

    Args:
        successes: Successes of each row, n rows.
        trials: Trials of each row.
        clusters: The cluster of each row, for example its task.
        rng: Source of the resampling.
        others: A second, crossed cluster of each row.
        draws: Bootstrap draws.
        level: Confidence level in (0, 1).
        named: What the clusters are, for the method line: ``tasks``.

    >>> rng = np.random.default_rng(0)
    >>> all_of_them = clustered_rate([5, 5, 5, 5], [5, 5, 5, 5], ["a", "b", "c", "d"], rng, named="tasks")
    >>> all_of_them.value, all_of_them.low < 0.7, all_of_them.high
    (1.0, True, 1.0)
    """
    found = effective_rate(successes, trials, clusters, rng, others, draws)
    ends = found.bounds(level)
    low, high = ends if ends is not None else (None, None)
    return Estimate(found.rate, low, high, found.trials, f"bootstrap over {found.clusters} {named}", level)


def clustered_mean(
    values: ArrayLike,
    clusters: Sequence[Hashable],
    rng: np.random.Generator,
    draws: int = DRAWS,
    level: float = 0.95,
    named: str = "clusters",
) -> Estimate:
    """Return the mean of ``values`` with the interval of a cluster bootstrap.

    For numbers without an edge (seconds, score differences); rates go to
    :func:`clustered_rate`. The ends are mean +- t x bootstrap standard error; with fewer
    than two clusters they are undefined.

    Args:
        values: Any real numbers, [n].
        clusters: The cluster of each value.
        rng: Source of the resampling.
        draws: Bootstrap draws.
        level: Confidence level in (0, 1).
        named: What the clusters are, for the method line.
    """
    column = np.asarray(values, dtype=np.float64)
    if not column.size:
        return Estimate(None, None, None, 0, f"bootstrap over 0 {named}", level)
    codes = _codes(clusters)
    count = int(codes.max()) + 1
    at = (codes, np.zeros_like(codes))
    sums, sizes = _table((count, 1), at, column), _table((count, 1), at, np.ones_like(column))
    mean, method = float(column.mean()), f"bootstrap over {count} {named}"
    if count < 2:
        return Estimate(mean, None, None, len(column), method, level)
    variance = _variance(sums, sizes, rng, draws) * count / (count - 1)
    half = _quantile(count, level) * float(np.sqrt(variance))
    return Estimate(mean, mean - half, mean + half, len(column), method, level)


def _codes(keys: Sequence[Hashable]) -> NDArray[np.intp]:
    order = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    return np.asarray([order[key] for key in keys], dtype=np.intp)


def _table(shape: tuple[int, int], at: tuple[NDArray[np.intp], NDArray[np.intp]], values: ArrayLike) -> F64:
    table = np.zeros(shape)
    np.add.at(table, at, np.asarray(values, dtype=np.float64))
    return table


def _variance(sums: F64, sizes: F64, rng: np.random.Generator, draws: int) -> float:
    """Return the bootstrap variance of sum(sums) / sum(sizes) over both axes of [G, S] tables."""
    rows, columns = sums.shape
    by_row = rng.multinomial(rows, np.full(rows, 1 / rows), size=draws).astype(np.float64)
    by_column = (
        rng.multinomial(columns, np.full(columns, 1 / columns), size=draws).astype(np.float64)
        if columns > 1
        else np.ones((draws, 1))
    )
    total = (by_row @ sizes * by_column).sum(axis=1)
    drawn = total > 0  # unbalanced tables: a draw can miss every observation
    ratio = (by_row @ sums * by_column).sum(axis=1)[drawn] / total[drawn]
    return float(ratio.var()) if ratio.size else 0.0


def _quantile(clusters: int, level: float) -> float:
    """Return the t quantile for ``clusters`` - 1 degrees of freedom; the normal one for a lone cluster."""
    if clusters < 2:
        return normal_quantile(level)
    from scipy.special import stdtrit

    return float(stdtrit(clusters - 1, 0.5 + level / 2))
