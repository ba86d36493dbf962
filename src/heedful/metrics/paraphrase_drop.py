"""How much success falls against a control that met the same scenes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heedful.metrics.bootstrap import clustered_mean
from heedful.metrics.cells import TASKS, mean
from heedful.metrics.paired import paired_difference
from heedful.metrics.paraphrase_outcomes import MatchedPair
from heedful.spec.rollout import Estimate


@dataclass(frozen=True)
class DropResult:
    """Rollouts in other words beside the matched rollouts with the original ones.

    Attributes:
        name: Which rollouts: ``all``, a category, an axis, a cell.
        pairs: Rollouts that have a control.
        original, paraphrase: Success rates over the pairs.
        drop: original - paraphrase; the mean over pairs, clustered by original task.
        both, original_only, paraphrase_only, neither: Pairs by who succeeded; a pair whose
            control was run several times counts where most of these ended.
    """

    name: str
    pairs: int
    original: float | None
    paraphrase: float | None
    drop: Estimate
    both: int
    original_only: int
    paraphrase_only: int
    neither: int


def drop_result(name: str, pairs: Sequence[MatchedPair], rng: np.random.Generator) -> DropResult:
    """Return how much success falls over ``pairs``.

    Pairs of one task share their control and their scene, so they are no independent pairs:
    the interval is the cluster bootstrap's over tasks. Where that has no width (every task
    agrees) or there is but one task, it is Newcombe's for paired rates instead.

    Args:
        name: Which rollouts these are.
        pairs: Rollouts with their controls.
        rng: Source of the resampling.
    """
    counts = [[0, 0], [0, 0]]
    for pair in pairs:
        counts[pair.control >= 0.5][pair.outcome.success] += 1
    (neither, paraphrase_only), (original_only, both) = counts
    falls = [pair.control - pair.outcome.success for pair in pairs]
    drop = clustered_mean(falls, [pair.outcome.original for pair in pairs], rng, named=TASKS)
    if drop.low is None or drop.low == drop.high:
        drop = paired_difference(both, original_only, paraphrase_only, neither)
    else:
        drop = Estimate(drop.value, max(drop.low, -1.0), min(drop.high or 1.0, 1.0), drop.n, drop.method)
    return DropResult(
        name=name,
        pairs=len(pairs),
        original=mean([pair.control for pair in pairs]),
        paraphrase=mean([float(pair.outcome.success) for pair in pairs]),
        drop=drop,
        both=both,
        original_only=original_only,
        paraphrase_only=paraphrase_only,
        neither=neither,
    )
