"""What a comparison found, as the content of ``comparison.json``: unrounded, every rate with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from heedful.metrics.comparison import GROUNDS, Trial, difference, success
from heedful.report.collection.words import strategy, verdict
from heedful.spec.codec import to_json
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.store.datasets import DatasetSummary
from heedful.suites.grid.cases import WORDLESS
from heedful.workflows.comparing.bill import Bill
from heedful.workflows.comparing.layout import Arm, Layout, Lesson
from heedful.workflows.grid_results import (
    axes_json,
    cell_table,
    costs_json,
    difference_json,
    outcomes,
    success_parts,
    trials_of,
)
from heedful.workflows.training import TrainingSummary

VERSION = 1


@dataclass(frozen=True, eq=False)
class _Learned:
    """A lesson and what became of it."""

    lesson: Lesson
    rows: Sequence[EpisodeRow]
    trials: Sequence[Trial]
    wordless: Sequence[Trial]
    data: DatasetSummary
    training: TrainingSummary


def results(
    layout: Layout,
    rows: Iterable[EpisodeRow],
    verdicts: Mapping[str, Verdict],
    bill: Bill,
    datasets: Mapping[Path, DatasetSummary],
    trained: Mapping[Path, TrainingSummary],
    commands: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the content of ``comparison.json``.

    Args:
        layout: What was compared.
        rows: The episodes of the run.
        verdicts: Episode id -> what the grid judge said.
        bill: What it was expected to cost.
        datasets: What every dataset of the layout holds.
        trained: How every policy of the layout was trained.
        commands: What was typed.
    """
    by_ref: dict[str, list[EpisodeRow]] = {}
    for row in rows:
        by_ref.setdefault(row.policy.ref, []).append(row)
    learned = []
    for lesson in layout.lessons:
        own, shown = by_ref.get(layout.ref(lesson), []), lesson.plan.demonstrations()
        asked = trials_of(own, verdicts, lesson.seed, shown)
        wordless = trials_of(own, verdicts, lesson.seed, shown, WORDLESS)
        data, training = datasets[lesson.data], trained[lesson.policy]
        learned.append(_Learned(lesson, own, asked, wordless, data, training))
    return {
        "version": VERSION,
        "request": to_json(layout.request),
        "grid": axes_json(layout.request.factors, layout.request.vocabulary),
        "order": list(layout.grounding.order),
        "order_source": layout.grounding.source,
        "order_remarks": list(layout.grounding.remarks),
        "left_out": [{**asdict(one), "sentence": one.sentence} for one in layout.left_out],
        "arms": [
            _arm(arm, [one for one in learned if one.lesson.arm == arm], verdicts) for arm in layout.arms
        ],
        "differences": _differences(layout, learned),
        "bill": {**asdict(bill), "minutes": bill.minutes},
        "costs": _costs(learned, datasets, trained),
        "commands": list(commands),
    }


def _arm(arm: Arm, learned: Sequence[_Learned], verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    trials = [trial for one in learned for trial in one.trials]
    shown = [one.lesson.plan.demonstrations() for one in learned]
    return {
        **asdict(arm),
        "name": arm.name,
        "slug": arm.slug,
        "plans": [_plan(one) for one in learned],
        "success": success_parts(trials),
        "grid": cell_table(learned[0].lesson.plan.grid.cells(), shown, trials),
        "empty_instruction": to_json(success([trial for one in learned for trial in one.wordless])),
        "outcomes": outcomes((row for one in learned for row in one.rows), verdicts),
    }


def _plan(one: _Learned) -> dict[str, Any]:
    """Return what one plan of an arm holds, recomputed from its rows."""
    plan = one.lesson.plan
    counts = plan.demonstrations()
    return {
        "seed": one.lesson.seed,
        "f": plan.changes,
        "n": len(plan.rows),
        "collected_n": one.data.episodes,
        "cells": len(counts),
        "cells_added": len(set(plan.added)),
        "demonstrations_a_cell": [min(counts.values()), max(counts.values())],
        "file": f"plans/{one.lesson.plan_file.name}",
        "training_cpu_s": one.training.cpu_s,
        "loss": one.training.loss,
    }


def _differences(layout: Layout, learned: Sequence[_Learned]) -> list[dict[str, Any]]:
    """Return every pair of strategies at the same f and n, on every ground that holds trials of both."""
    pooled = {
        arm: [trial for one in learned if one.lesson.arm == arm for trial in one.trials]
        for arm in layout.arms
    }
    found = []
    for a, b in combinations(layout.arms, 2):
        if (a.changes, a.demos) != (b.changes, b.demos):
            continue
        for ground in GROUNDS:
            compared = difference(pooled[a], pooled[b], ground)
            if compared is not None:
                found.append(
                    {
                        "a": a.strategy,
                        "b": b.strategy,
                        "changes": a.changes,
                        "demos": a.demos,
                        "ground": ground,
                        **difference_json(compared),
                        "verdict": verdict(strategy(a.strategy), strategy(b.strategy), ground, compared),
                    }
                )
    return found


def _costs(
    learned: Sequence[_Learned],
    datasets: Mapping[Path, DatasetSummary],
    trained: Mapping[Path, TrainingSummary],
) -> dict[str, Any]:
    """Return what was spent."""
    rows = [row for own in {one.lesson.policy: one.rows for one in learned}.values() for row in own]
    finished = [row for row in rows if row.status == "finished"]
    return {
        **costs_json(datasets.values(), trained.values()),
        "episodes": len(finished),
        "crashed": len(rows) - len(finished),
        "rollouts_wall_s": sum(row.wall_s for row in finished),
    }
