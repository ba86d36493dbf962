"""What judged rollouts over a grid say of policies that saw some of its cells, as plain data.

Shared by comparisons of strategies and by the closed loop; both keep it as JSON, unrounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from heedful.metrics.comparison import PARTS, Difference, Trial, by_seed, part_of, success
from heedful.spec.codec import to_json
from heedful.spec.plan import Configuration
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.spec.vocabulary import load_vocabulary
from heedful.store.datasets import DatasetSummary
from heedful.suites.grid.cases import ASKED
from heedful.workflows.training import TrainingSummary

Shown = Mapping[Configuration, int]
"""Cell -> demonstrations of it that one policy was shown."""


def trials_of(
    rows: Iterable[EpisodeRow],
    verdicts: Mapping[str, Verdict],
    seed: int,
    shown: Shown,
    arm: str = ASKED,
) -> list[Trial]:
    """Return the judged rollouts of one policy; crashed and abstained ones are counted elsewhere.

    Args:
        rows: Its episodes.
        verdicts: Episode id -> verdict of the grid judge.
        seed: Its training seed.
        shown: What it was shown.
        arm: Which cases.
    """
    collected = {"+".join(cell) for cell in shown}
    found = []
    for row in rows:
        said = verdicts.get(row.id)
        if row.case.arm == arm and row.status == "finished" and said is not None and said.label is not None:
            cell = row.case.scoring["cell"]
            found.append(Trial(row.case.id, cell, seed, said.label == "success", cell in collected))
    return found


def success_parts(trials: Sequence[Trial]) -> dict[str, Any]:
    """Return success on held-out, on collected and on all cells, pooled and by training seed."""
    return {
        part: {
            "pooled": to_json(success(part_of(trials, part))),
            "by_seed": {str(seed): to_json(found) for seed, found in by_seed(part_of(trials, part)).items()},
        }
        for part in PARTS
    }


def cell_table(
    cells: Sequence[Configuration], shown: Sequence[Shown], trials: Iterable[Trial]
) -> list[dict[str, Any]]:
    """Return every cell with its rollouts, counted over training seeds by whether it was collected.

    Args:
        cells: All cells of the grid.
        shown: What each policy, one a training seed, was shown.
        trials: The rollouts of all of them.
    """
    tally: dict[str, Counter[str]] = {}
    for trial in trials:
        where = "collected" if trial.collected else "held_out"
        own = tally.setdefault(trial.cell, Counter())
        own[f"{where}_trials"] += 1
        own[f"{where}_successes"] += trial.success
    keys = [f"{where}_{what}" for where in ("collected", "held_out") for what in ("successes", "trials")]
    return [
        {
            "cell": list(cell),
            "seeds_collected": sum(cell in one for one in shown),
            "demonstrations": sum(one.get(cell, 0) for one in shown),
            **{key: tally.get("+".join(cell), Counter())[key] for key in keys},
        }
        for cell in cells
    ]


def outcomes(rows: Iterable[EpisodeRow], verdicts: Mapping[str, Verdict]) -> dict[str, dict[str, int]]:
    """Return arm of the cases -> label -> episodes; crashed and abstained ones under these names."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        said = verdicts.get(row.id)
        label = "crashed" if row.status == "crashed" else (said.label if said else None) or "abstained"
        found.setdefault(row.case.arm, Counter())[label] += 1
    return {arm: dict(counts) for arm, counts in found.items()}


def axes_json(factors: Iterable[str], vocabulary: str) -> list[dict[str, Any]]:
    """Return the factors of a grid with their values."""
    grammar = load_vocabulary(vocabulary).grammar
    return [{"factor": name, "values": list(grammar.factor(name).values)} for name in factors]


def costs_json(datasets: Iterable[DatasetSummary], trained: Iterable[TrainingSummary]) -> dict[str, Any]:
    """Return what datasets and trainings came to."""
    collected = list(datasets)
    return {
        "datasets_mb": sum(data.size_bytes for data in collected) / 1e6,
        "failed_demonstrations": sum(data.failed for data in collected),
        "training_cpu_s": sum(training.cpu_s for training in trained),
    }


def difference_json(found: Difference) -> dict[str, Any]:
    """Return a difference as plain data."""
    return {
        "value": to_json(found.value),
        "naive": to_json(found.naive),
        "p_value": found.p_value,
        "a_only": found.a_only,
        "b_only": found.b_only,
        "real": found.real,
        "half_width": found.half_width,
        "need": None if found.need is None else asdict(found.need),
        "variance": {**asdict(found.parts), "noise": found.noise},
    }
