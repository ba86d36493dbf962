"""Comparisons and closed loops with invented outcomes, put together by the real code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heedful.planning.grounding import GroundingOrder, stated_order
from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.store.datasets import DatasetSummary
from heedful.suites.factors import make as make_factors
from heedful.workflows.comparing.bill import bill
from heedful.workflows.comparing.layout import Layout, lay_out
from heedful.workflows.comparing.request import ComparisonRequest, checked
from heedful.workflows.comparing.results import results
from heedful.workflows.mending.bill import bill as mend_bill
from heedful.workflows.mending.request import MendRequest, planned
from heedful.workflows.mending.request import checked as mend_checked
from heedful.workflows.mending.results import Evidence
from heedful.workflows.mending.results import results as mend_results
from heedful.workflows.mending.stages import after, before, conflicts_spec, control, grid_spec
from heedful.workflows.running import resolve
from heedful.workflows.training import TrainingSummary

ABILITY = {"v": 0.72, "l": 0.5, "random": 0.58}
OUT = Path("runs/cmp")


def outcome(
    case: Case, entry: PolicyEntry, rate: float, rng: np.random.Generator, crashed: float = 0.0
) -> tuple[EpisodeRow, Verdict | None]:
    """Return an episode that succeeds with probability ``rate``."""
    episode = Episode(case, entry)
    lost = bool(rng.random() < crashed)
    row = EpisodeRow(
        episode.id, case, entry, "crashed" if lost else "finished", case.instruction.text, 0, 80, 5, 0.4, 0.1
    )
    label = "success" if rng.random() < rate else str(rng.choice(["wrong_object", "wrong_verb", "nothing"]))
    return row, None if lost else Verdict(row.id, "grid", label)


def comparison(
    ability: Mapping[str, float] = ABILITY,
    *,
    spread: float = 0.04,
    crashed: float = 0.002,
    out: Path = OUT,
    **asked: Any,
) -> dict[str, Any]:
    """Return the content of ``comparison.json`` where strategy s does as told where not shown in ability[s].

    Args:
        spread: Standard deviation of the ability between trainings.
    """
    request = checked(ComparisonRequest(**{"factors": ("color", "object"), "changes": (12, 18, 24), **asked}))
    layout = lay_out(request, stated_order(request.factors), out)
    rng = np.random.default_rng(7)
    rows, verdicts = [], {}
    _, cases = resolve(layout.run_spec())
    habit = {case.scoring["cell"]: rng.normal(0, 0.08) for case in cases}
    for lesson in layout.lessons:
        shown = {"+".join(cell) for cell in lesson.plan.cells}
        luck = rng.normal(0, spread)
        for case in cases:
            cell = case.scoring["cell"]
            able = 0.95 if cell in shown else ability[lesson.arm.strategy] + 0.008 * (lesson.arm.changes - 12)
            rate = 0.34 if case.arm != "grid" else min(max(able + luck + habit[cell], 0.02), 0.98)
            entry = PolicyEntry(layout.ref(lesson), lesson.arm.name, lesson.seed)
            row, verdict = outcome(case, entry, rate, rng, crashed)
            rows.append(row)
            if verdict is not None:
                verdicts[row.id] = verdict
    return results(
        layout, rows, verdicts, bill(layout), _datasets(layout), _trained(layout), ("heedful compare ...",)
    )


def closed_loop(seeds: int = 3, gain: float = 0.3, out: Path = Path("runs/mend")) -> dict[str, Any]:
    """Return the content of ``mend.json`` where the plan adds ``gain`` where nothing was shown."""
    request = mend_checked(MendRequest(("color", "object"), seeds=seeds))
    grounding = GroundingOrder(("color", "object"), "measured (before)", ("color and object are close.",))
    plan = planned(request, grounding.order)
    stages = (before(request, out), control(request, out), after(request, plan, out))
    able = {"before": 0.4, "control": 0.43, "after": 0.4 + gain}
    rng = np.random.default_rng(5)
    rows, verdicts = [], {}
    _, cases = resolve(grid_spec(request, *stages))
    for stage in stages:
        shown = {"+".join(cell) for cell in stage.shown(request.factors)}
        for entry in stage.entries(request):
            for case in cases:
                rate = (
                    0.33 if case.arm != "grid" else 0.96 if case.scoring["cell"] in shown else able[stage.key]
                )
                row, verdict = outcome(case, entry, rate, rng)
                rows.append(row)
                if verdict is not None:
                    verdicts[row.id] = verdict
    entries = [entry for stage in stages for entry in stage.entries(request)]
    evidence = Evidence(
        stages,
        _conflicts(request, entries, rng),
        rows,
        verdicts,
        {stage.key: _dataset(stage.data, len(stage.tasks)) for stage in stages},
        {
            folder: TrainingSummary("", 150.0, 0.02, 300)
            for stage in stages
            for folder in stage.policies.values()
        },
    )
    return mend_results(request, plan, grounding, evidence, mend_bill(request, out), ("heedful mend ...",))


def _conflicts(request: MendRequest, entries: list[PolicyEntry], rng: np.random.Generator) -> dict[str, Any]:
    suite = make_factors()
    options = suite.options(conflicts_spec(request).options)
    leaning = {"before": 0.3, "more of the same": 0.28, "after the plan": 0.48}
    rows, verdicts = [], {}
    for entry in entries:
        for case in suite.cases(options):
            row, _ = outcome(case, entry, 1.0, rng)
            label = "success" if case.arm == "in_distribution" else "overfit_2"
            if case.arm == "conflict" and rng.random() < leaning[entry.name]:
                label = "overfit_1"
            rows.append(row)
            verdicts[row.id] = Verdict(row.id, "factors", label)
    return suite.summarise(rows, verdicts, options)


def _dataset(path: Path, episodes: int) -> DatasetSummary:
    return DatasetSummary(
        path, episodes, 35 * episodes, 20, "panda", {}, {}, {}, episodes, 0, 60_000 * episodes
    )


def _datasets(layout: Layout) -> dict[Path, DatasetSummary]:
    return {data: _dataset(data, len(plan.rows)) for data, plan in layout.datasets().items()}


def _trained(layout: Layout) -> dict[Path, TrainingSummary]:
    return {job.out: TrainingSummary("", 160.0, 0.02, 200) for job in layout.jobs()}


@pytest.fixture(scope="session")
def make_comparison() -> Callable[..., dict[str, Any]]:
    return comparison


@pytest.fixture(scope="session")
def make_closed_loop() -> Callable[..., dict[str, Any]]:
    return closed_loop
