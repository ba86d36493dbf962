"""Uncertainty of numbers from a table of cells by training seeds, both of which repeat.

Rollouts of one cell, and rollouts of one training, are not independent. An estimate is written
as a sum of contributions u[c, s] of cell c and seed s (its influence function: for a pooled mean
w[c, s] (d[c, s] - mean) / W); then, with C cells and S seeds,

    V_cells = C / (C - 1)  sum_c (sum_s u)^2,    V_seeds = S / (S - 1)  sum_s (sum_c u)^2

(cluster-robust sums, Cameron, Gelbach and Miller, "Robust inference with multiway clustering",
JBES 29, 2011), and the variance is V_cells + V_seeds. What is in both, the noise of single
rollouts and the interaction, is counted twice on purpose: subtracting it leaves too little
where there are two or three seeds. Ends take the t quantile with Satterthwaite's degrees of
freedom, V^2 / (V_cells^2 / (C - 1) + V_seeds^2 / (S - 1)), so that three seeds that disagree
count as three observations, not as hundreds of rollouts.

Simulated on 36 cells, 4 to 6 paired rollouts a cell and seed, 95 % intervals held the truth in
93 to 99 % of draws with three seeds and in 91 to 98 % with two, whether cells, seeds, both or
neither differ; the bootstrap with the t quantile for cells held it in 90 and in 86 % where
seeds differ.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from heedful.metrics.rates import wilson_bounds
from heedful.spec.rollout import Estimate

Place = tuple[Hashable, Hashable]
"""A cell and a training seed."""


@dataclass(frozen=True)
class TwoWay:
    """The variance of an estimate, by where it comes from.

    Attributes:
        cells: V_cells; 0 with one cell.
        seeds: V_seeds; 0 with one seed.
        residual: What cells and seeds together do not explain: the part that is in both.
        cell_count, seed_count: C and S.
    """

    cells: float
    seeds: float
    residual: float
    cell_count: int
    seed_count: int

    @property
    def variance(self) -> float:
        """Return V_cells + V_seeds."""
        return self.cells + self.seeds

    @property
    def degrees(self) -> float:
        """Return Satterthwaite's degrees of freedom; infinite without variance."""
        return degrees_of_freedom(self.cells, self.cell_count - 1, self.seeds, self.seed_count - 1)

    @property
    def quantile(self) -> float:
        """Return the t quantile of a 95 % interval."""
        return t_quantile(self.degrees)

    @property
    def method(self) -> str:
        """Return how the interval was made, in words."""
        if self.seed_count < 2:
            return f"clustered over {self.cell_count} cells; one training seed"
        return f"clustered over {self.cell_count} cells and {self.seed_count} training seeds"


def two_way(parts: Mapping[Place, float]) -> TwoWay:
    """Return the variance of the estimate whose contributions, which sum to 0, are ``parts``."""
    cells = list(dict.fromkeys(cell for cell, _ in parts))
    seeds = list(dict.fromkeys(seed for _, seed in parts))
    table = np.zeros((len(cells), len(seeds)))
    there = np.zeros(table.shape, dtype=bool)
    for (cell, seed), part in parts.items():
        at = cells.index(cell), seeds.index(seed)
        table[at], there[at] = part, True
    return TwoWay(
        cells=_between(table.sum(axis=1)),
        seeds=_between(table.sum(axis=0)),
        residual=_residual(table, there),
        cell_count=len(cells),
        seed_count=len(seeds),
    )


def two_way_rate(successes: Mapping[Place, int], trials: Mapping[Place, int]) -> tuple[Estimate, TwoWay]:
    """Return a pooled rate with its clustered score interval, and the variance behind it.

    The rate p is worth p (1 - p) / V independent rollouts, at most as many as there are; at 0
    or 1, where V says nothing, that of the nearest table, with one rollout turned round.

    Args:
        successes: (cell, seed) -> successes.
        trials: (cell, seed) -> rollouts; places without any are left out.

    >>> grid = {(cell, seed): 4 for cell in "abcdef" for seed in (0, 1, 2)}
    >>> rate, _ = two_way_rate(grid, grid)
    >>> rate.value, rate.low < 0.95, rate.high
    (1.0, True, 1.0)
    """
    tried = {place: count for place, count in trials.items() if count}
    total = sum(tried.values())
    if not total:
        return Estimate(None, None, None, 0, "clustered over 0 cells"), TwoWay(0.0, 0.0, 0.0, 0, 0)
    good = {place: float(successes.get(place, 0)) for place in tried}
    rate = sum(good.values()) / total
    found = two_way(_parts(good, tried, rate))
    near, used = rate, found
    if rate in (0.0, 1.0):
        turned = max(tried, key=lambda place: tried[place])
        good[turned] += 1.0 if rate == 0.0 else -1.0
        near = sum(good.values()) / total
        used = two_way(_parts(good, tried, near))
    worth = min(near * (1 - near) / used.variance, total) if used.variance > 0 else float(total)
    low, high = wilson_bounds(rate, worth, used.quantile)
    return Estimate(rate, low, high, total, found.method), found


def degrees_of_freedom(cells: float, cell_degrees: float, seeds: float, seed_degrees: float) -> float:
    """Return Satterthwaite's degrees of freedom of the sum of two variances.

    >>> degrees_of_freedom(1.0, 35, 0.0, 2), degrees_of_freedom(0.0, 35, 1.0, 2)
    (35.0, 2.0)
    """
    below = sum(v * v / d for v, d in ((cells, cell_degrees), (seeds, seed_degrees)) if v > 0 and d > 0)
    return (cells + seeds) ** 2 / below if below > 0 else inf


def t_quantile(degrees: float, level: float = 0.95) -> float:
    """Return the quantile of Student's t that ``level`` of it lies within."""
    from scipy.special import stdtrit

    return float(stdtrit(min(degrees, 1e9), 0.5 + level / 2))


def half_width(found: TwoWay) -> float:
    """Return half the width of the 95 % interval of a difference."""
    return found.quantile * sqrt(found.variance)


def _parts(good: Mapping[Place, float], tried: Mapping[Place, int], rate: float) -> dict[Place, float]:
    total = sum(tried.values())
    return {place: (good[place] - rate * count) / total for place, count in tried.items()}


def _between(sums: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    return float((sums**2).sum()) * len(sums) / (len(sums) - 1) if len(sums) > 1 else 0.0


def _residual(
    table: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    there: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
) -> float:
    """Return the sum of squares that rows and columns leave, as a variance of the estimate."""
    rows, columns = np.nonzero(there)
    design = np.zeros((len(rows), sum(table.shape)))
    design[np.arange(len(rows)), rows] = 1
    design[np.arange(len(rows)), table.shape[0] + columns] = 1
    free = len(rows) - int(np.linalg.matrix_rank(design))
    if free < 1:
        return 0.0
    left = table[there] - design @ np.linalg.lstsq(design, table[there], rcond=None)[0]
    return float((left**2).sum()) * len(rows) / free
