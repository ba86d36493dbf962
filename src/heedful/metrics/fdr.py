"""Factor Dominance Rate: which of two conflicting factors a policy follows (arXiv 2607.21582)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.metrics.bootstrap import DRAWS, EffectiveRate, effective_rate
from heedful.metrics.rates import wilson
from heedful.spec.rollout import Estimate


@dataclass(frozen=True)
class ConflictCounts:
    """Conflict rollouts of one value pair by the policy of one training seed.

    Attributes:
        value_pair: Key of the scene's two values. Cells that show the same two objects
            share it: "red sphere" and "yellow cube" both put the red cube beside the
            yellow sphere, and are one value pair.
        training_seed: Seed of the policy's training; ``None`` when unknown.
        n1: Rollouts that followed factor 1.
        n2: Rollouts that followed factor 2.
    """

    value_pair: str
    training_seed: int | None
    n1: int
    n2: int


def fdr_value(n1: int, n2: int) -> float | None:
    """Return (n1 - n2) / (n1 + n2), in [-1, 1]; ``None`` when nothing was overfit.

    >>> fdr_value(30, 10), fdr_value(0, 0)
    (0.5, None)
    """
    return (n1 - n2) / (n1 + n2) if n1 + n2 else None


def naive_fdr(n1: int, n2: int, level: float = 0.95) -> Estimate:
    """Return the FDR with the interval that takes rollouts for independent.

    FDR = 2p - 1 with p = n1 / (n1 + n2), so its ends are those of p's Wilson interval,
    transformed. Rollouts of one value pair resemble each other, therefore this interval
    is too narrow; it is shown beside :func:`fdr`, never instead of it.
    """
    p = wilson(n1, n1 + n2, level)
    low, high = (None if end is None else 2 * end - 1 for end in (p.low, p.high))
    return Estimate(fdr_value(n1, n2), low, high, p.n, "Wilson over rollouts", level)


def fdr(
    rows: Sequence[ConflictCounts], rng: np.random.Generator, draws: int = DRAWS, level: float = 0.95
) -> Estimate:
    """Return the FDR with the interval that counts: bootstrap over value pairs and training seeds.

    Every training seed meets every value pair, so the two are crossed and resampled each
    on its own (pigeonhole); :mod:`heedful.metrics.bootstrap` says why, and how the ends
    are found. They are never tighter than those of :func:`naive_fdr`, and stay apart when
    every rollout follows the same factor. With one training seed, how much the FDR moves
    from training to training is not in the interval; the method line says so.

    Args:
        rows: Counts by value pair and training seed, in any order; rows may repeat a key.
        rng: Source of the resampling.
        draws: Bootstrap draws.
        level: Confidence level in (0, 1).

    >>> rows = [ConflictCounts(pair, 0, 9, 1) for pair in "abcdef"]
    >>> estimate = fdr(rows, np.random.default_rng(0))
    >>> estimate.value, estimate.method
    (0.8, 'bootstrap over 6 value pairs, 1 training seed (variation between trainings unknown)')
    """
    p = _effective(rows, rng, draws)
    ends = p.bounds(level)
    low, high = (2 * ends[0] - 1, 2 * ends[1] - 1) if ends is not None else (None, None)
    value = fdr_value(sum(row.n1 for row in rows), sum(row.n2 for row in rows))
    return Estimate(value, low, high, p.trials, _method(p), level)


def fdr_posterior(
    rows: Sequence[ConflictCounts], rng: np.random.Generator, draws: int = DRAWS
) -> NDArray[np.float64]:
    """Return draws of the FDR given the rollouts, for the certainty of a ranking.

    p is drawn from Beta(p m + 1/2, (1 - p) m + 1/2), Jeffreys' posterior at the effective
    number m of observations that :func:`fdr` uses, so that few or like-minded value pairs
    leave doubt.

    Returns:
        [draws], in (-1, 1); NaN when nothing was overfit.
    """
    p = _effective(rows, rng, draws)
    if p.rate is None:
        return np.full(draws, np.nan)
    return 2 * rng.beta(p.rate * p.effective_n + 0.5, (1 - p.rate) * p.effective_n + 0.5, size=draws) - 1


def _effective(rows: Sequence[ConflictCounts], rng: np.random.Generator, draws: int) -> EffectiveRate:
    return effective_rate(
        successes=[row.n1 for row in rows],
        trials=[row.n1 + row.n2 for row in rows],
        clusters=[row.value_pair for row in rows],
        others=[row.training_seed for row in rows],
        rng=rng,
        draws=draws,
    )


def _method(p: EffectiveRate) -> str:
    pairs = f"{p.clusters} value pair{'' if p.clusters == 1 else 's'}"
    if p.others > 1:
        return f"bootstrap over {pairs} and {p.others} training seeds"
    return f"bootstrap over {pairs}, 1 training seed (variation between trainings unknown)"
