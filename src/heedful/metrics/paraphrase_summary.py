"""What rollouts under paraphrase add up to: success, PRIDE, cells, marginals, drop, correlation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heedful.metrics.cells import (
    CellResult,
    GroupResult,
    Marginals,
    cell_results,
    distance,
    group,
    marginals,
    mean,
    pride_by_alpha,
    success_rate,
    task_results,
)
from heedful.metrics.correlation import Correlation, pearson
from heedful.metrics.paraphrase_drop import DropResult, drop_result
from heedful.metrics.paraphrase_outcomes import MatchedPair, ParaphraseOutcome, matched
from heedful.metrics.pride import ALPHA
from heedful.metrics.rates import wilson
from heedful.spec.codec import to_json
from heedful.spec.paraphrase import AXES, CATEGORIES, CELLS
from heedful.spec.rollout import Estimate

SWEEP = tuple(round(0.05 * step, 2) for step in range(21))
"""The alphas of the sweep: the published eleven and those between them."""
WORST = 12
"""Paraphrases in the list of the worst."""


@dataclass(frozen=True)
class PridePoint:
    """PRIDE at one alpha, in [0, 100]."""

    alpha: float
    pride: Estimate


@dataclass(frozen=True)
class ParaphraseResult:
    """One paraphrase (one key) over all its rollouts.

    Attributes:
        key, original, text: Which one.
        cell: Name of its cell, ``object/action``; empty where nobody said.
        rollouts, successes: Counts.
        distance: Its paraphrase distance, ``None`` where not known.
    """

    key: str
    original: str
    text: str
    cell: str
    rollouts: int
    successes: int
    distance: float | None


@dataclass(frozen=True)
class PolicyResult:
    """Everything about one policy.

    Attributes:
        name: The policy.
        paraphrases: Distinct paraphrases (by key); ``originals`` of so many instructions.
        unplaced: Rollouts whose cell nobody said: in success and PRIDE, in no cell.
        seeds: Seeds in order; one empty name where seeds were not told.
        uneven: Paraphrases that were not run under every seed that has a name.
        success: Pooled success rate in other words.
        authors_success: Unweighted mean of the cells' success, each the mean over its seeds.
        pride: At ``alpha``, ``None`` when no similarity is known.
        scored: Rollouts whose similarities are known: those behind PRIDE and distances.
        sweep: PRIDE for every alpha of the sweep.
        cells: All 43.
        marginals: By type, axis and category.
        tasks: By original instruction.
        by_seed: By seed; empty with one seed.
        correlation: Mean distance against the authors' success, over cells.
        original, empty: Success of the controls; ``None`` when they were not run.
        drops: ``all``, then categories, then axes; empty without matched controls.
        unmatched: Rollouts without an original control on their seed, when there are any controls.
        worst: The paraphrases that fail most surely (by the upper end of their Wilson interval), of
            equally bad ones the nearest to the original first.
    """

    name: str
    rollouts: int
    paraphrases: int
    originals: int
    unplaced: int
    seeds: tuple[str, ...]
    uneven: int
    success: Estimate
    authors_success: float | None
    alpha: float
    pride: Estimate | None
    scored: int
    sweep: tuple[PridePoint, ...]
    cells: tuple[CellResult, ...]
    marginals: Marginals
    tasks: tuple[GroupResult, ...]
    by_seed: tuple[GroupResult, ...]
    correlation: Correlation | None
    original: Estimate | None
    empty: Estimate | None
    drops: tuple[DropResult, ...]
    unmatched: int
    worst: tuple[ParaphraseResult, ...]


@dataclass(frozen=True)
class ParaphraseSummary:
    """The policies in the order of their first rollout."""

    policies: tuple[PolicyResult, ...]


def summarise_paraphrases(
    outcomes: Sequence[ParaphraseOutcome],
    alpha: float = ALPHA,
    expected: Mapping[str, int] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Return everything measured, as plain data.

    ``policies`` holds ``ParaphraseSummary.policies``. When there is one policy, ``success_rate``
    (in [0, 1]), ``pride`` (alpha -> PRIDE in [0, 100] or null; empty when no similarity is
    known) and ``cells`` (see :func:`brief`) stand beside it, for scripts.

    Args:
        outcomes: Judged rollouts, the controls among them, of any number of policies.
        alpha: Weight of keyword similarity in distances, in [0, 1].
        expected: Cell name -> paraphrases that the benchmark has there.
        seed: Of the bootstrap.
    """
    by_policy: dict[str, list[ParaphraseOutcome]] = {}
    for outcome in outcomes:
        by_policy.setdefault(outcome.policy, []).append(outcome)
    policies = tuple(
        policy_result(name, own, alpha, expected, np.random.default_rng(seed))
        for name, own in by_policy.items()
    )
    found: dict[str, Any] = brief(policies[0]) if len(policies) == 1 else {}
    return {**found, **to_json(ParaphraseSummary(policies))}


def brief(policy: PolicyResult) -> dict[str, Any]:
    """Return a policy's numbers as scripts want them, without intervals.

    ``success_rate``, ``pride`` (alpha as text -> PRIDE) and ``cells``: for each of the 43 its
    object_type, action_type, rollouts, successes, success_rate, authors_success_rate, and
    mean_distance; null where nothing was run.
    """
    return {
        "success_rate": policy.success.value,
        "pride": {str(point.alpha): point.pride.value for point in policy.sweep},
        "cells": [
            {
                "object_type": cell.cell.object,
                "action_type": cell.cell.action,
                "expected": cell.expected,
                "rollouts": cell.result.rollouts if cell.result else 0,
                "successes": cell.result.successes if cell.result else 0,
                "success_rate": cell.result.success.value if cell.result else None,
                "interval": [cell.result.success.low, cell.result.success.high] if cell.result else None,
                "authors_success_rate": cell.result.authors if cell.result else None,
                "mean_distance": cell.result.distance if cell.result else None,
            }
            for cell in policy.cells
        ],
    }


def policy_result(
    name: str,
    outcomes: Sequence[ParaphraseOutcome],
    alpha: float,
    expected: Mapping[str, int] | None,
    rng: np.random.Generator,
) -> PolicyResult:
    """Return everything measured of one policy."""
    said = [o for o in outcomes if o.arm == "paraphrase"]
    original = [o for o in outcomes if o.arm == "original"]
    empty = [o for o in outcomes if o.arm == "empty_instruction"]
    cells = cell_results(said, CELLS, alpha, rng, expected)
    points = pride_by_alpha(said, sorted({*SWEEP, alpha}), rng)
    scored = sum(o.scored for o in said)
    sweep = tuple(PridePoint(at, found) for at, found in points.items()) if scored else ()
    pairs = matched(said, original)
    runs = {(o.key, o.seed) for o in said if o.seed}
    complete = Counter(key for key, _ in runs)
    seeds = in_order(o.seed for o in said)
    named = sum(bool(seed) for seed in seeds)
    return PolicyResult(
        name=name,
        rollouts=len(said),
        paraphrases=len({o.key for o in said}),
        originals=len({o.original for o in said}),
        unplaced=sum(o.cell is None for o in said),
        seeds=seeds,
        uneven=sum(complete[key] < named for key in {o.key for o in said}) if named > 1 else 0,
        success=success_rate(said, rng),
        authors_success=mean([c.result.authors for c in cells if c.result and c.result.authors is not None]),
        alpha=alpha,
        pride=points[alpha] if sweep else None,
        scored=scored,
        sweep=sweep,
        cells=cells,
        marginals=marginals(said, cells, alpha, rng),
        tasks=task_results(said, alpha, rng),
        by_seed=_by_seed(said, alpha, rng) if len(seeds) > 1 else (),
        correlation=_correlation(cells),
        original=success_rate(original, rng) if original else None,
        empty=success_rate(empty, rng) if empty else None,
        drops=_drops(pairs, rng),
        unmatched=len(said) - len(pairs) if original else 0,
        worst=_worst(said, alpha),
    )


def _by_seed(
    outcomes: Sequence[ParaphraseOutcome], alpha: float, rng: np.random.Generator
) -> tuple[GroupResult, ...]:
    own: dict[str, list[ParaphraseOutcome]] = {}
    for outcome in outcomes:
        own.setdefault(outcome.seed, []).append(outcome)
    return tuple(group(seed, own[seed], alpha, rng) for seed in in_order(own))


def in_order(seeds: Iterable[str]) -> tuple[str, ...]:
    """Return seeds in the order of people: 7, 8, 10.

    >>> in_order(["10", "7", "8"])
    ('7', '8', '10')
    """
    return tuple(sorted(set(seeds), key=lambda seed: (len(seed), seed)))


def _correlation(cells: Sequence[CellResult]) -> Correlation | None:
    points = [
        (c.result.distance, c.result.authors)
        for c in cells
        if c.result and c.result.distance is not None and c.result.authors is not None
    ]
    return pearson([d for d, _ in points], [s for _, s in points]) if points else None


def _drops(pairs: Sequence[MatchedPair], rng: np.random.Generator) -> tuple[DropResult, ...]:
    kinds = [("all", list(pairs))]
    placed = [(pair, cell) for pair in pairs if (cell := pair.outcome.cell) is not None]
    kinds += [(name, [p for p, cell in placed if cell.category == name]) for name in CATEGORIES]
    kinds += [(name, [p for p, cell in placed if cell.axis == name]) for name in AXES if name != "none"]
    return tuple(drop_result(name, own, rng) for name, own in kinds if own)


def _worst(outcomes: Sequence[ParaphraseOutcome], alpha: float) -> tuple[ParaphraseResult, ...]:
    found: dict[str, ParaphraseResult] = {}
    for o in outcomes:
        known = found.get(o.key)
        if known is None:
            known = ParaphraseResult(
                o.key, o.original, o.text, o.cell.name if o.cell else "", 0, 0, distance(o, alpha)
            )
        found[o.key] = replace(known, rollouts=known.rollouts + 1, successes=known.successes + int(o.success))
    failing = [p for p in found.values() if p.successes < p.rollouts]
    return tuple(sorted(failing, key=_badness)[:WORST])


def _badness(paraphrase: ParaphraseResult) -> tuple[float, float, str]:
    near = paraphrase.distance if paraphrase.distance is not None else float("inf")
    return wilson(paraphrase.successes, paraphrase.rollouts).high or 0.0, near, paraphrase.key
