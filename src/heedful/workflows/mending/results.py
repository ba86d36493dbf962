"""What the closed loop found, as the content of ``mend.json``: unrounded, every rate with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from heedful.metrics.comparison import Trial, difference, success
from heedful.planning.grounding import GroundingOrder, under_grounded
from heedful.report.collection.words import verdict
from heedful.spec.codec import to_json
from heedful.spec.plan import Plan
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.store.datasets import DatasetSummary
from heedful.suites.grid.cases import WORDLESS
from heedful.workflows.comparing.bill import Bill
from heedful.workflows.grid_results import (
    axes_json,
    cell_table,
    costs_json,
    difference_json,
    outcomes,
    success_parts,
    trials_of,
)
from heedful.workflows.mending.request import MendRequest
from heedful.workflows.mending.stages import Stage
from heedful.workflows.training import TrainingSummary

VERSION = 1


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is on disk at the end.

    Attributes:
        stages: Before, control, after.
        conflicts: Metrics of the run of conflicts.
        rows: The episodes of the run over the grid.
        verdicts: Episode id -> what the grid judge said of it.
        data: Stage -> its dataset.
        trained: Checkpoint -> its training.
    """

    stages: tuple[Stage, ...]
    conflicts: Mapping[str, Any]
    rows: Sequence[EpisodeRow]
    verdicts: Mapping[str, Verdict]
    data: Mapping[str, DatasetSummary]
    trained: Mapping[Path, TrainingSummary]


def results(
    request: MendRequest,
    plan: Plan,
    grounding: GroundingOrder,
    evidence: Evidence,
    cost: Bill,
    commands: Sequence[str],
) -> dict[str, Any]:
    """Return the content of ``mend.json``.

    Args:
        request: What was asked.
        plan: What was added.
        grounding: The order it was planned by.
        evidence: What is on disk.
        cost: What it was expected to cost.
        commands: What was typed.
    """
    verdicts = evidence.verdicts
    rows: dict[str, list[EpisodeRow]] = {}
    for row in evidence.rows:
        rows.setdefault(row.policy.ref, []).append(row)
    measured = {policy["name"]: policy for policy in evidence.conflicts["policies"]}
    trials: dict[str, list[Trial]] = {}
    stages = []
    for stage in evidence.stages:
        shown = stage.shown(request.factors)
        own = {entry.training_seed or 0: rows.get(entry.ref, []) for entry in stage.entries(request)}
        asked = [t for seed, found in own.items() for t in trials_of(found, verdicts, seed, shown)]
        wordless = [
            t for seed, found in own.items() for t in trials_of(found, verdicts, seed, shown, WORDLESS)
        ]
        trials[stage.key] = asked
        stages.append(
            {
                "key": stage.key,
                "name": stage.name,
                "demonstrations": evidence.data[stage.key].episodes,
                "cells": len(shown),
                "conflicts": measured[stage.name]["pairs"][0],
                "success": success_parts(asked),
                "grid": cell_table(plan.grid.cells(), [shown] * request.seeds, asked),
                "empty_instruction": to_json(success(wordless)),
                "outcomes": outcomes((row for found in own.values() for row in found), verdicts),
                "training_cpu_s": [evidence.trained[folder].cpu_s for folder in stage.policies.values()],
            }
        )
    counts = plan.demonstrations()
    return {
        "version": VERSION,
        "request": to_json(request),
        "grid": axes_json(request.factors, request.vocabulary),
        "plan": {
            "file": "plan.csv",
            "strategy": plan.strategy,
            "order": list(grounding.order),
            "order_source": grounding.source,
            "remarks": list(grounding.remarks),
            "under_grounded": list(under_grounded(request.factors, grounding.order)),
            "f": plan.changes,
            "n": len(plan.rows),
            "cells": len(counts),
            "cells_added": len(set(plan.added)),
            "demonstrations_a_cell": [min(counts.values()), max(counts.values())],
            "grid": [
                {"cell": list(cell), "demonstrations": counts.get(cell, 0)} for cell in plan.grid.cells()
            ],
        },
        "stages": stages,
        "differences": _differences(evidence.stages, trials),
        "bill": {**asdict(cost), "minutes": cost.minutes},
        "costs": costs_json(evidence.data.values(), evidence.trained.values()),
        "commands": list(commands),
    }


def _differences(stages: tuple[Stage, ...], trials: Mapping[str, list[Trial]]) -> list[dict[str, Any]]:
    """Return every pair of stages, the later one first, on cells neither was shown and on all."""
    found = []
    for earlier, later in combinations(stages, 2):
        for ground in ("both_held_out", "all"):
            compared = difference(trials[later.key], trials[earlier.key], ground)
            if compared is not None:
                found.append(
                    {
                        "a": later.key,
                        "b": earlier.key,
                        "ground": ground,
                        **difference_json(compared),
                        "verdict": verdict(later.name, earlier.name, ground, compared),
                    }
                )
    return found
