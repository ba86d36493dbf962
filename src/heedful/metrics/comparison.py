"""Strategies compared on policies that met the same scenes: rates, paired differences, what would separate.

A trial is one rollout of one training seed. Two strategies are paired by (training seed, case):
the same scene and words, and plans and trainings of the same seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from heedful.metrics.paired import PairedComparison, compare
from heedful.metrics.rates import wilson
from heedful.metrics.two_way import (
    Place,
    TwoWay,
    degrees_of_freedom,
    half_width,
    t_quantile,
    two_way,
    two_way_rate,
)
from heedful.spec.rollout import Estimate

Part = Literal["all", "collected", "held_out"]
PARTS: tuple[Part, ...] = ("held_out", "collected", "all")
Ground = Literal["all", "both_held_out", "own_held_out"]
GROUNDS: tuple[Ground, ...] = ("own_held_out", "both_held_out", "all")
"""all: every cell. both_held_out: the cells that neither plan of that seed collected.
own_held_out: each strategy on the cells that its own plan did not collect."""

MOST_SEEDS, MOST_ROLLOUTS = 200, 100.0
"""Beyond so many training seeds, or so many times the rollouts, a need is called out of reach."""


@dataclass(frozen=True)
class Trial:
    """One judged rollout.

    Attributes:
        case: Id of the case, the same for all policies.
        cell: The cell it asks for.
        seed: Training seed of the policy.
        success: Whether it did what was asked.
        collected: Whether the policy's own plan holds demonstrations of the cell.
    """

    case: str
    cell: str
    seed: int
    success: bool
    collected: bool


@dataclass(frozen=True)
class Success:
    """A success rate.

    Attributes:
        rate: With the interval that counts, clustered by cell and training seed.
        naive: The same rate with Wilson's interval, as if rollouts were independent.
        successes, trials: Counts.
    """

    rate: Estimate
    naive: Estimate
    successes: int
    trials: int


@dataclass(frozen=True)
class Need:
    """What would separate a difference of the observed size, 95 % interval against 0.

    Attributes:
        seeds: Training seeds in all, rollouts a seed unchanged; ``None``: out of reach.
        rollouts: Times as many rollouts a seed, seeds unchanged; ``None``: out of reach.
    """

    seeds: int | None
    rollouts: float | None


@dataclass(frozen=True)
class Difference:
    """Strategy A minus strategy B.

    Attributes:
        value: With the interval that counts, clustered by cell and training seed.
        naive: Newcombe's interval, as if rollouts were independent.
        p_value: Exact McNemar test over pairs; ``None`` where the cases are not the same.
        a_only, b_only: Pairs in which only one succeeded; ``None`` likewise.
        real: Whether the interval excludes 0; never with one training seed.
        half_width: Half the width of the interval; ``None`` where it is the naive one, because
            nothing varies.
        need: ``None`` when it is real or the observed difference is 0.
        parts: Where the variance comes from.
        noise: The part of V_cells, and likewise of V_seeds, that is the noise of single rollouts.
    """

    value: Estimate
    naive: Estimate
    p_value: float | None
    a_only: int | None
    b_only: int | None
    real: bool
    half_width: float | None
    need: Need | None
    parts: TwoWay
    noise: float


def part_of(trials: Sequence[Trial], part: Part) -> list[Trial]:
    """Return the trials on all cells, on collected ones, or on those held out."""
    return [t for t in trials if part == "all" or t.collected == (part == "collected")]


def success(trials: Sequence[Trial]) -> Success:
    """Return the pooled success of ``trials``."""
    good, tried = _counted(trials, lambda trial: trial.success), _counted(trials, lambda _: True)
    rate, _ = two_way_rate(good, tried)
    successes = sum(good.values())
    return Success(rate, wilson(successes, len(trials)), successes, len(trials))


def by_seed(trials: Sequence[Trial]) -> dict[int, Success]:
    """Return the success of every training seed, clustered by cell."""
    seeds = sorted({trial.seed for trial in trials})
    return {seed: success([trial for trial in trials if trial.seed == seed]) for seed in seeds}


def difference(a: Sequence[Trial], b: Sequence[Trial], ground: Ground) -> Difference | None:
    """Return how strategy A differs from strategy B; ``None`` where there is nothing to compare.

    Only training seeds that both have are used, and of paired grounds only cases that both have.

    Args:
        a: Trials of A.
        b: Trials of B.
        ground: On which cells.
    """
    at_a, at_b = ({(t.seed, t.case): t for t in trials} for trials in (a, b))
    if ground == "own_held_out":
        seeds = {t.seed for t in a} & {t.seed for t in b}
        return _unpaired(
            [t for t in part_of(a, "held_out") if t.seed in seeds],
            [t for t in part_of(b, "held_out") if t.seed in seeds],
        )
    pairs = [(one, at_b[key]) for key, one in at_a.items() if key in at_b]
    if ground == "both_held_out":
        pairs = [(x, y) for x, y in pairs if not x.collected and not y.collected]
    return _paired(pairs) if pairs else None


def needed(value: float, parts: TwoWay, noise: float) -> Need:
    """Return what would separate a difference of ``value`` from 0.

    With S' instead of S training seeds, the part of V_cells beyond the residual stays (other
    seeds meet the same cells), and all else shrinks by S / S'. With k times the rollouts only
    the noise, which is in V_cells and in V_seeds, shrinks by 1 / k. The smallest S' and k
    for which t sqrt(V') < |value| are returned; the degrees of freedom follow V'.

    Args:
        value: The observed difference.
        parts: Its variance.
        noise: The noise of single rollouts in each of the two ways.
    """
    if value == 0 or parts.seed_count < 2:
        return Need(None, None)
    stays = max(parts.cells - parts.residual, 0.0)

    def with_seeds(count: int) -> bool:
        shrunk = parts.seed_count / count
        cells, seeds = stays + (parts.cells - stays) * shrunk, parts.seeds * shrunk
        return _separates(value, cells, parts.cell_count - 1, seeds, count - 1)

    def with_rollouts(times: float) -> bool:
        gone = noise * (1 - 1 / times)
        cells, seeds = max(parts.cells - gone, 0.0), max(parts.seeds - gone, 0.0)
        return _separates(value, cells, parts.cell_count - 1, seeds, parts.seed_count - 1)

    more = (1 + step / 4 for step in range(1, int(4 * MOST_ROLLOUTS)))
    return Need(
        seeds=next((s for s in range(parts.seed_count + 1, MOST_SEEDS + 1) if with_seeds(s)), None),
        rollouts=next((times for times in more if with_rollouts(times)), None),
    )


def _separates(value: float, cells: float, cell_degrees: int, seeds: float, seed_degrees: int) -> bool:
    quantile = t_quantile(degrees_of_freedom(cells, cell_degrees, seeds, seed_degrees))
    return quantile * sqrt(cells + seeds) < abs(value)


def _paired(pairs: Sequence[tuple[Trial, Trial]]) -> Difference:
    tested = compare([x.success for x, _ in pairs], [y.success for _, y in pairs])
    at = [((x.cell, x.seed), float(x.success) - float(y.success)) for x, y in pairs]
    mean = sum(d for _, d in at) / len(at)
    parts: dict[Place, float] = {}
    for place, d in at:
        parts[place] = parts.get(place, 0.0) + (d - mean) / len(at)
    noise = _noise(at)
    return _difference(mean, len(pairs), parts, noise, tested.difference, tested)


def _unpaired(a: Sequence[Trial], b: Sequence[Trial]) -> Difference | None:
    if not a or not b:
        return None
    means = [sum(t.success for t in trials) / len(trials) for trials in (a, b)]
    parts: dict[Place, float] = {}
    noise = 0.0
    for sign, mean, trials in zip((1, -1), means, (a, b), strict=True):
        for t in trials:
            place = (t.cell, t.seed)
            parts[place] = parts.get(place, 0.0) + sign * (t.success - mean) / len(trials)
        noise += _noise([((t.cell, t.seed), float(t.success)) for t in trials])
    value = means[0] - means[1]
    naive = _square_and_add(
        wilson(sum(t.success for t in a), len(a)), wilson(sum(t.success for t in b), len(b))
    )
    return _difference(value, len(a) + len(b), parts, noise, naive, None)


def _difference(
    value: float,
    n: int,
    contributions: Mapping[Place, float],
    noise: float,
    naive: Estimate,
    tested: PairedComparison | None,
) -> Difference:
    parts = two_way(contributions)
    low, high, half, method = naive.low, naive.high, None, f"{naive.method}; every pair the same"
    if parts.variance > 0:
        half = half_width(parts)
        low, high, method = max(value - half, -1.0), min(value + half, 1.0), parts.method
    real = parts.seed_count > 1 and low is not None and high is not None and (low > 0 or high < 0)
    return Difference(
        value=Estimate(value, low, high, n, method),
        naive=naive,
        p_value=tested.p_value if tested else None,
        a_only=tested.a_only if tested else None,
        b_only=tested.b_only if tested else None,
        real=real,
        half_width=half,
        need=None if real or value == 0 or half is None else needed(value, parts, noise),
        parts=parts,
        noise=noise,
    )


def _counted(trials: Sequence[Trial], counts: Callable[[Trial], bool]) -> dict[Place, int]:
    found: dict[Place, int] = {}
    for t in trials:
        found[t.cell, t.seed] = found.get((t.cell, t.seed), 0) + counts(t)
    return found


def _noise(at: Sequence[tuple[Place, float]]) -> float:
    """Return the variance of a mean that single rollouts within one cell and seed bring in."""
    groups: dict[Place, list[float]] = {}
    for place, value in at:
        groups.setdefault(place, []).append(value)
    free = len(at) - len(groups)
    if free < 1:
        return 0.0
    within = sum(sum((v - sum(own) / len(own)) ** 2 for v in own) for own in groups.values())
    return within / free / len(at)


def _square_and_add(one: Estimate, other: Estimate) -> Estimate:
    """Return the difference of two independent rates (Newcombe's method 10).

    Newcombe, "Interval estimation for the difference between independent proportions" (Statistics
    in Medicine 17, 1998): Wilson's limits of both, squared and added.
    """
    a, a_low, a_high = (x or 0.0 for x in (one.value, one.low, one.high))
    b, b_low, b_high = (x or 0.0 for x in (other.value, other.low, other.high))
    value = a - b
    low = value - sqrt((a - a_low) ** 2 + (b_high - b) ** 2)
    high = value + sqrt((a_high - a) ** 2 + (b - b_low) ** 2)
    return Estimate(value, low, high, one.n + other.n, "Newcombe, independent")
