"""The order of the factors over all pairs, how it depends on tau, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from heedful.metrics.dominance import TAU, certainty, copeland, hierarchy, sensitivity
from heedful.metrics.fdr_table import FdrTable
from heedful.suites.factors.summary.pair import PairSummary

TAUS = (0.0, 0.02, TAU, 0.1, 0.15, 0.2, 0.3)
"""Tie thresholds shown; 0.05 and 0.10 are the published ones."""


def summarise_hierarchy(pairs: Sequence[PairSummary]) -> dict[str, Any] | None:
    """Return the hierarchy of one policy; ``None`` unless every two of at least three factors were paired.

    An undefined FDR is a win for nobody.
    """
    named = [(str(p.data["factor_1"]), str(p.data["factor_2"])) for p in pairs]
    factors = FdrTable(tuple(named), {}).factors
    if len(factors) < 3 or len({frozenset(p) for p in named}) < len(list(combinations(factors, 2))):
        return None
    values = [p.fdr.value for p in pairs]
    draws = np.stack([p.draws for p in pairs], axis=1)
    scores = copeland(named, values, factors)
    levels = hierarchy(scores)
    drawn = [copeland(named, row.tolist(), factors) for row in draws]
    return {
        "tau": TAU,
        "copeland": scores,
        "levels": _lists(levels),
        "sure": certainty(named, values, draws, factors).hierarchy,
        "order_kept": [
            {"above": list(above), "below": list(below), "sure": _kept(drawn, above, below)}
            for above, below in pairwise(levels)
        ],
        "by_tau": [
            {
                "tau": tau,
                "copeland": copeland(named, values, factors, tau),
                "levels": _lists(hierarchy(copeland(named, values, factors, tau))),
                "sure": certainty(named, values, draws, factors, tau).hierarchy,
            }
            for tau in TAUS
        ],
        "sensitivity": [
            {"low": s.low, "high": s.high, "levels": _lists(s.hierarchy)}
            for s in sensitivity(named, values, factors)
        ],
    }


def _kept(drawn: Sequence[dict[str, int]], above: Sequence[str], below: Sequence[str]) -> float:
    """Return the share of draws that score every factor of ``above`` over every factor of ``below``."""
    return sum(min(d[f] for f in above) > max(d[f] for f in below) for d in drawn) / len(drawn)


def _lists(levels: Sequence[Sequence[str]]) -> list[list[str]]:
    return [list(level) for level in levels]
