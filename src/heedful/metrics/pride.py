"""PRIDE: success under paraphrase, where a success counts the more the farther the words are.

Source of every formula here: LIBERO-Para (arXiv 2603.28301).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import fsum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.metrics.bootstrap import DRAWS, effective_rate
from heedful.metrics.tree_distance import tree_edit_distance
from heedful.spec.rollout import Estimate
from heedful.spec.syntax import Tree

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

ALPHA = 0.5
"""Weight of the keywords; the structure has the rest."""
ALPHAS = tuple(step / 10 for step in range(11))
"""The published sweep."""


def keyword_similarity(original: F32, paraphrase: F32) -> float:
    """Return S_K: how well the paraphrase's keywords cover the original's, in [-1, 1].

    For each keyword of the original the largest cosine over the paraphrase's keywords, then
    the mean; 0 where a side has no keywords. Not symmetric. Equal keywords give 1 up to the
    rounding of float32.

    Args:
        original: [M, W] unit vectors of the original's keywords.
        paraphrase: [N, W] unit vectors of the paraphrase's keywords.
    """
    if not len(original) or not len(paraphrase):
        return 0.0
    return float((original @ paraphrase.T).max(axis=1).mean())


def structural_similarity(original: Tree, paraphrase: Tree) -> float:
    """Return S_T = 1 - edit distance / (size + size), in [0, 1].

    An empty tree has 0 with any other. Two empty trees are equal: 1, where the formula is
    0 / 0.

    >>> structural_similarity(Tree.of("a", Tree.of("b")), Tree.of("a"))
    0.6666666666666667
    """
    nodes = len(original) + len(paraphrase)
    return 1.0 - tree_edit_distance(original, paraphrase) / nodes if nodes else 1.0


def paraphrase_distance(keyword: float, structural: float, alpha: float = ALPHA) -> float:
    """Return PD = 1 - (alpha S_K + (1 - alpha) S_T).

    Never below 0: the rounding of S_K is not a distance.

    Args:
        keyword: S_K.
        structural: S_T.
        alpha: In [0, 1]; 1 looks at the keywords alone, 0 at the structure alone.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must lie between 0 and 1, got {alpha}")
    return max(0.0, 1.0 - (alpha * keyword + (1.0 - alpha) * structural))


def pride(successes: ArrayLike, distances: ArrayLike) -> float | None:
    """Return PRIDE = 100 sum(success PD) / sum(PD), in [0, 100], pooled over episodes.

    ``None`` where every distance is 0: no episode had other words.

    Args:
        successes: 1 or 0 for each episode, [n].
        distances: PD of each episode's instruction, at least 0, [n].
    """
    good, weights = (np.asarray(column, dtype=np.float64) for column in (successes, distances))
    total = fsum(weights)  # exact, so that a policy that never fails has exactly 100
    return 100.0 * (fsum(good * weights) / total) if total > 0 else None


def pride_estimate(
    successes: ArrayLike,
    distances: ArrayLike,
    tasks: Sequence[Hashable],
    rng: np.random.Generator,
    others: Sequence[Hashable] | None = None,
    draws: int = DRAWS,
    level: float = 0.95,
    named: str = "original instructions",
) -> Estimate:
    """Return PRIDE with an interval that allows for paraphrases of one original going together.

    PRIDE is a ratio of two sums, both of which vary with the tasks that happen to be in the
    benchmark. So whole tasks are resampled and the ratio is formed anew in every draw. As for
    any clustered rate (see :mod:`heedful.metrics.bootstrap`) the variance v of the draws gives
    an effective number of episodes, p (1 - p) / v with p = PRIDE / 100, and the ends are the
    score interval at that number, with the t quantile for the number of tasks. The effective
    number is at most (sum PD)^2 / sum PD^2, what unequally weighted, independent episodes are
    worth (Kish, "Survey Sampling", 1965).

    Args:
        successes: 1 or 0 for each episode, [n].
        distances: PD of each episode's instruction, at least 0, [n].
        tasks: The original instruction of each episode, [n].
        rng: Source of the resampling.
        others: A second, crossed way in which episodes go together, such as training seeds.
        draws: Bootstrap draws.
        level: Confidence level in (0, 1).
        named: What the tasks are, for the method line.
    """
    good, weights = (np.asarray(column, dtype=np.float64) for column in (successes, distances))
    n = len(good)
    if not weights.any():
        return Estimate(None, None, None, n, f"bootstrap over 0 {named}", level)
    weights = weights * (weights.sum() / np.square(weights).sum())  # they now sum to Kish's number
    found = effective_rate((good * weights).tolist(), weights.tolist(), tasks, rng, others, draws)
    found = replace(found, effective_n=max(1.0, found.effective_n))
    ends = found.bounds(level)
    value = pride(good, weights)
    low, high = (100.0 * end for end in ends) if ends is not None else (None, None)
    return Estimate(value, low, high, n, f"bootstrap over {found.clusters} {named}", level)


def pride_sweep(
    successes: ArrayLike,
    keyword: Sequence[float],
    structural: Sequence[float],
    tasks: Sequence[Hashable],
    rng: np.random.Generator,
    alphas: Sequence[float] = ALPHAS,
    others: Sequence[Hashable] | None = None,
    draws: int = DRAWS,
    level: float = 0.95,
) -> dict[float, Estimate]:
    """Return PRIDE for each alpha; all of them share the same resampled tasks.

    Args:
        successes: 1 or 0 for each episode, [n].
        keyword: S_K of each episode's instruction, [n].
        structural: S_T of each episode's instruction, [n].
        tasks: The original instruction of each episode, [n].
        rng: Source of the resampling.
        alphas: Weights of the keywords, in [0, 1].
        others: See :func:`pride_estimate`.
        draws: Bootstrap draws.
        level: Confidence level in (0, 1).
    """
    seed = int(rng.integers(2**63))
    swept = {}
    for alpha in alphas:
        distances = [paraphrase_distance(k, s, alpha) for k, s in zip(keyword, structural, strict=True)]
        again = np.random.default_rng(seed)
        swept[alpha] = pride_estimate(successes, distances, tasks, again, others, draws, level)
    return swept
