"""Factor dominance hierarchy: Copeland scores from pairwise FDR (arXiv 2607.21582).

C(f) is the number of opponents with FDR(f, other) > tau; a tie (|FDR| <= tau), a loss and a
missing pair score nothing. Factors are ranked by C, and equal scores are printed as ties.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.metrics.fdr_table import FdrTable
from heedful.spec.errors import UserError

TAU = 0.05
"""The published tie threshold; 0.10 is the published check."""
TOLERANCE = 1e-9
"""A value this close to tau is a tie: 5.0 % at tau 0.05 must not win by a rounding error."""

Pairs = Sequence[tuple[str, str]]
Hierarchy = tuple[tuple[str, ...], ...]
"""Most dominant first; factors with equal scores stand together."""


def dominance(table: FdrTable, tau: float = TAU) -> dict[str, Any]:
    """Return Copeland scores and hierarchy of every policy, as plain JSON data.

    Args:
        table: FDR of every pair of factors.
        tau: Tie threshold, a fraction in [0, 1].

    Returns:
        ``{"policies": {name: {"copeland": {factor: score}, "hierarchy": [[factor, ...], ...]}}}``;
        a policy for which a pair has no value also has ``"missing": [[factor, factor], ...]``.

    Raises:
        UserError: ``tau`` is no fraction.
    """
    return {"policies": {policy: _policy(table, policy, tau) for policy in table.values}}


def copeland(
    pairs: Pairs, values: Sequence[float | None], factors: Sequence[str], tau: float = TAU
) -> dict[str, int]:
    """Return the Copeland score of each factor.

    Args:
        pairs: (factor 1, factor 2) of each value.
        values: FDR as fractions, positive where factor 1 dominates; ``None`` or NaN: missing.
        factors: All factors, in the order wanted.
        tau: Tie threshold, a fraction in [0, 1].

    >>> copeland([("verb", "color"), ("color", "size")], [-0.2, 0.05], ["color", "verb", "size"])
    {'color': 1, 'verb': 0, 'size': 0}
    """
    row = [math.nan if value is None else value for value in values]
    scores = _scores(pairs, np.asarray([row], dtype=np.float64), factors, checked_tau(tau))[0]
    return dict(zip(factors, scores.tolist(), strict=True))


def hierarchy(scores: Mapping[str, int]) -> Hierarchy:
    """Return the factors ranked by score, ties together.

    >>> hierarchy({"color": 3, "object": 2, "spatial": 2, "verb": 1})
    (('color',), ('object', 'spatial'), ('verb',))
    """
    return tuple(
        tuple(factor for factor, score in scores.items() if score == rank)
        for rank in sorted(set(scores.values()), reverse=True)
    )


@dataclass(frozen=True)
class TauSegment:
    """The hierarchy that holds for low <= tau < high (to 1 included in the last).

    Where some FDR is 1 or -1, the last is tau = 1 alone: nothing is beyond that.
    """

    low: float
    high: float
    hierarchy: Hierarchy


def sensitivity(pairs: Pairs, values: Sequence[float | None], factors: Sequence[str]) -> list[TauSegment]:
    """Return how the hierarchy changes with tau, from 0 to 1, neighbours always different.

    A win ends where tau reaches its |FDR|, so only those values of tau can change anything.

    >>> [(s.low, s.high, s.hierarchy) for s in sensitivity([("a", "b")], [0.3], ["a", "b"])]
    [(0.0, 0.3, (('a',), ('b',))), (0.3, 1.0, (('a', 'b'),))]
    """
    sizes = {abs(value) for value in values if value is not None and not math.isnan(value)}
    starts = sorted({0.0, *(size for size in sizes if size <= 1)})
    segments: list[TauSegment] = []
    for low, high in zip(starts, [*starts[1:], 1.0], strict=True):
        found = hierarchy(copeland(pairs, values, factors, low))
        if segments and segments[-1].hierarchy == found:
            low = segments.pop().low
        segments.append(TauSegment(low, high, found))
    return segments


@dataclass(frozen=True)
class OrderShare:
    """How sure the place of one factor relative to another is.

    Attributes:
        first, second: Two factors.
        order: ``>`` when the first ranks higher by score, ``=`` for a tie, ``<`` otherwise.
        share: Share of draws in which the same holds.
    """

    first: str
    second: str
    order: Literal[">", "=", "<"]
    share: float


@dataclass(frozen=True)
class Certainty:
    """How sure a hierarchy is.

    Attributes:
        hierarchy: Share of draws with exactly this hierarchy, ties included.
        orders: One entry for each two factors.
    """

    hierarchy: float
    orders: tuple[OrderShare, ...]


def certainty(
    pairs: Pairs,
    values: Sequence[float | None],
    draws: ArrayLike,
    factors: Sequence[str],
    tau: float = TAU,
) -> Certainty:
    """Return the share of draws that keep the hierarchy, and each order in it.

    Args:
        pairs: (factor 1, factor 2) of each of P values.
        values: The FDR found.
        draws: [B, P] draws of the same FDRs, for example a column of
            :func:`heedful.metrics.fdr.fdr_posterior` a pair; NaN counts as a tie.
        factors: All factors.
        tau: Tie threshold, a fraction in [0, 1].
    """
    found = np.asarray(list(copeland(pairs, values, factors, tau).values()))
    drawn = _scores(pairs, np.asarray(draws, dtype=np.float64), factors, tau)
    at = list(combinations(range(len(factors)), 2))
    first, second = np.asarray([i for i, _ in at], dtype=int), np.asarray([j for _, j in at], dtype=int)
    order = np.sign(found[first] - found[second])
    kept = np.sign(drawn[:, first] - drawn[:, second]) == order
    names: dict[int, Literal[">", "=", "<"]] = {1: ">", 0: "=", -1: "<"}
    return Certainty(
        hierarchy=float(kept.all(axis=1).mean()),
        orders=tuple(
            OrderShare(factors[i], factors[j], names[int(sign)], float(share))
            for (i, j), sign, share in zip(at, order, kept.mean(axis=0), strict=True)
        ),
    )


def checked_tau(tau: float) -> float:
    """Return ``tau``, or raise the error that says what it must be."""
    if not 0 <= tau <= 1:
        raise UserError(f"tau is {tau:g}, but must be a fraction between 0 and 1; write 0.05 for 5 %.")
    return tau


def _policy(table: FdrTable, policy: str, tau: float) -> dict[str, Any]:
    values = table.of(policy)
    scores = copeland(table.pairs, values, table.factors, tau)
    found: dict[str, Any] = {"copeland": scores, "hierarchy": [list(rank) for rank in hierarchy(scores)]}
    known = {
        frozenset(pair)
        for pair, value in zip(table.pairs, values, strict=True)
        if value is not None and not math.isnan(value)
    }
    missing = [list(two) for two in combinations(table.factors, 2) if frozenset(two) not in known]
    return found | ({"missing": missing} if missing else {})


def _scores(
    pairs: Pairs, values: NDArray[np.float64], factors: Sequence[str], tau: float
) -> NDArray[np.int64]:
    """Return Copeland scores [B, F] from FDR [B, P]."""
    at = {factor: i for i, factor in enumerate(factors)}
    scores = np.zeros((len(values), len(factors)), dtype=np.int64)
    for column, (first, second) in zip(values.T, pairs, strict=True):
        scores[:, at[first]] += column > tau + TOLERANCE
        scores[:, at[second]] += -column > tau + TOLERANCE
    return scores
