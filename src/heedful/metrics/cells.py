"""Success by cell of the paraphrase taxonomy, by axis and by category: pooled, and as published.

Pooled: successes over rollouts; every rollout counts once. The authors' way (LIBERO-Para,
arXiv 2603.28301): a cell's success is the mean over seeds of the rate of each seed, and a
marginal is the unweighted mean over its cells. The two differ where cells or seeds hold
unequally many rollouts, so both are kept and each is named.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from heedful.metrics.bootstrap import clustered_mean, clustered_rate
from heedful.metrics.paraphrase_outcomes import ParaphraseOutcome
from heedful.metrics.pride import paraphrase_distance, pride_sweep
from heedful.spec.paraphrase import ACTION_TYPES, AXES, CATEGORIES, OBJECT_TYPES, Cell
from heedful.spec.rollout import Estimate

TASKS = "original instructions"


@dataclass(frozen=True)
class GroupResult:
    """Success of some rollouts: those of a cell, of a type, of an axis, of a task.

    Attributes:
        name: What they have in common.
        rollouts, successes: Counts.
        paraphrases: Distinct paraphrases (by key) among them.
        success: Pooled rate; the interval is clustered by original task and, where there are
            several, by seed.
        authors: The rate computed as the authors do, ``None`` without rollouts.
        distance: Mean paraphrase distance of the rollouts whose similarities are known.
        contrast: Success here minus success of all other rollouts in other words, formed
            within every task and then averaged over tasks: tasks differ far more than kinds
            of paraphrase do, and this takes that out.
    """

    name: str
    rollouts: int
    successes: int
    paraphrases: int
    success: Estimate
    authors: float | None = None
    distance: float | None = None
    contrast: Estimate | None = None


@dataclass(frozen=True)
class CellResult:
    """One of the 43 cells.

    Attributes:
        cell: The cell.
        expected: Paraphrases that the benchmark has here, ``None`` when not known.
        result: What was measured, ``None`` when nothing was run.
    """

    cell: Cell
    expected: int | None = None
    result: GroupResult | None = None


@dataclass(frozen=True)
class Marginals:
    """Success along the taxonomy; names without rollouts are left out.

    Attributes:
        object_types, action_types: By how the object, and how the action is worded anew.
        axes: By the axis of the action type; ``none``: only the object is worded anew.
        categories: ``obj``, ``act`` and ``comp``: what is worded anew.
    """

    object_types: tuple[GroupResult, ...]
    action_types: tuple[GroupResult, ...]
    axes: tuple[GroupResult, ...]
    categories: tuple[GroupResult, ...]


def cell_results(
    outcomes: Sequence[ParaphraseOutcome],
    cells: Iterable[Cell],
    alpha: float,
    rng: np.random.Generator,
    expected: Mapping[str, int] | None = None,
) -> tuple[CellResult, ...]:
    """Return every cell of ``cells``, with its result where it has rollouts.

    Args:
        outcomes: Rollouts of one policy in other words.
        cells: The cells to list.
        alpha: Weight of keyword similarity in the distance.
        rng: Source of the resampling.
        expected: Cell name -> paraphrases that the benchmark has there; missing names: none.
    """
    by_cell: dict[Cell, list[ParaphraseOutcome]] = {}
    for outcome in outcomes:
        if outcome.cell is not None:
            by_cell.setdefault(outcome.cell, []).append(outcome)
    return tuple(
        CellResult(
            cell,
            expected.get(cell.name, 0) if expected is not None else None,
            replace(group(cell.name, own, alpha, rng), authors=mean_over_seeds(own)) if own else None,
        )
        for cell in cells
        for own in [by_cell.get(cell, [])]
    )


def marginals(
    outcomes: Sequence[ParaphraseOutcome], cells: Sequence[CellResult], alpha: float, rng: np.random.Generator
) -> Marginals:
    """Return success by type, axis and category.

    Args:
        outcomes: Rollouts of one policy in other words.
        cells: Their results by cell, from :func:`cell_results`.
        alpha: Weight of keyword similarity in the distance.
        rng: Source of the resampling.
    """

    def along(names: Sequence[str], of: Callable[[Cell], str]) -> tuple[GroupResult, ...]:
        found = []
        placed = [(o, of(o.cell)) for o in outcomes if o.cell is not None]
        for name in names:
            own = [o for o, there in placed if there == name]
            others = [o for o, there in placed if there != name]
            if own:
                rates = [
                    c.result.authors
                    for c in cells
                    if c.result is not None and c.result.authors is not None and of(c.cell) == name
                ]
                result = group(name, own, alpha, rng)
                found.append(replace(result, authors=mean(rates), contrast=contrast(own, others, rng)))
        return tuple(found)

    return Marginals(
        object_types=along(OBJECT_TYPES, lambda cell: cell.object),
        action_types=along(ACTION_TYPES, lambda cell: cell.action),
        axes=along(AXES, lambda cell: cell.axis),
        categories=along(CATEGORIES, lambda cell: cell.category),
    )


def group(
    name: str, outcomes: Sequence[ParaphraseOutcome], alpha: float, rng: np.random.Generator
) -> GroupResult:
    """Return the pooled result of ``outcomes``."""
    distances = [d for o in outcomes if (d := distance(o, alpha)) is not None]
    return GroupResult(
        name=name,
        rollouts=len(outcomes),
        successes=sum(o.success for o in outcomes),
        paraphrases=len({o.key for o in outcomes}),
        success=success_rate(outcomes, rng),
        distance=mean(distances),
    )


def task_results(
    outcomes: Sequence[ParaphraseOutcome], alpha: float, rng: np.random.Generator
) -> tuple[GroupResult, ...]:
    """Return the result of every original instruction; intervals are clustered by paraphrase."""
    found = []
    for name in sorted({o.original for o in outcomes}):
        own = [o for o in outcomes if o.original == name]
        seeds = [o.seed for o in own] if len({o.seed for o in own}) > 1 else None
        rate = clustered_rate(
            [int(o.success) for o in own],
            [1] * len(own),
            [o.key for o in own],
            rng,
            seeds,
            named="paraphrases",
        )
        found.append(replace(group(name, own, alpha, rng), success=rate))
    return tuple(found)


def contrast(
    own: Sequence[ParaphraseOutcome], others: Sequence[ParaphraseOutcome], rng: np.random.Generator
) -> Estimate | None:
    """Return the success of ``own`` minus that of ``others``, within tasks; ``None`` without shared tasks."""
    tasks = sorted({o.original for o in own} & {o.original for o in others})
    if not tasks:
        return None
    here, there = _rate_by_task(own), _rate_by_task(others)
    found = clustered_mean([here[t] - there[t] for t in tasks], tasks, rng, named=TASKS)
    if found.low is None or found.high is None or found.low == found.high:
        return replace(found, low=None, high=None)
    return replace(found, low=max(found.low, -1.0), high=min(found.high, 1.0))


def distance(outcome: ParaphraseOutcome, alpha: float) -> float | None:
    """Return the paraphrase distance of a rollout's words, ``None`` where not known."""
    s_k, s_t = outcome.keyword_similarity, outcome.structural_similarity
    return None if s_k is None or s_t is None else paraphrase_distance(s_k, s_t, alpha)


def success_rate(outcomes: Sequence[ParaphraseOutcome], rng: np.random.Generator) -> Estimate:
    """Return the pooled success rate, clustered by original task and, if several, by seed."""
    originals, seeds, named = _clusters(outcomes)
    return clustered_rate(
        [int(o.success) for o in outcomes], [1] * len(outcomes), originals, rng, seeds, named=named
    )


def pride_by_alpha(
    outcomes: Sequence[ParaphraseOutcome], alphas: Sequence[float], rng: np.random.Generator
) -> dict[float, Estimate]:
    """Return PRIDE in [0, 100] for each alpha, over the rollouts whose similarities are known."""
    scored = [
        (o, s_k, s_t)
        for o in outcomes
        if (s_k := o.keyword_similarity) is not None and (s_t := o.structural_similarity) is not None
    ]
    originals, seeds, _ = _clusters([o for o, _, _ in scored])
    return pride_sweep(
        [o.success for o, _, _ in scored],
        [s_k for _, s_k, _ in scored],
        [s_t for _, _, s_t in scored],
        originals,
        rng,
        alphas,
        seeds,
    )


def mean_over_seeds(outcomes: Sequence[ParaphraseOutcome]) -> float | None:
    """Return the authors' success of a cell: the mean over seeds of the rate of each seed."""
    by_seed: dict[str, list[bool]] = {}
    for outcome in outcomes:
        by_seed.setdefault(outcome.seed, []).append(outcome.success)
    return mean([sum(ends) / len(ends) for ends in by_seed.values()])


def _rate_by_task(outcomes: Sequence[ParaphraseOutcome]) -> dict[str, float]:
    ends: dict[str, list[bool]] = {}
    for outcome in outcomes:
        ends.setdefault(outcome.original, []).append(outcome.success)
    return {task: sum(own) / len(own) for task, own in ends.items()}


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, ``None`` of nothing."""
    return sum(values) / len(values) if values else None


def _clusters(
    outcomes: Sequence[ParaphraseOutcome],
) -> tuple[list[Hashable], list[Hashable] | None, str]:
    """Return the task of each rollout, its seed where there are several, and both in words."""
    seeds = [o.seed for o in outcomes]
    several = len(set(seeds)) > 1
    named = f"{TASKS} and {len(set(seeds))} seeds" if several else TASKS
    return [o.original for o in outcomes], list(seeds) if several else None, named
