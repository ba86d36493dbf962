"""Policies that are there already: run, judged and reported in one go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from heedful.spec.progress import Progress, silent
from heedful.spec.run import RunSpec
from heedful.workflows.diagnosis import Sizes, check_known_answer
from heedful.workflows.judging import judge
from heedful.workflows.reporting import KNOWN_ANSWER, report
from heedful.workflows.running import HowToRun, RunResult, run

if TYPE_CHECKING:
    from heedful.workflows.tracking import Tracking

_CHECKED = "factors", "tabletop"
"""The suite and the world in which a factor order can be planted, and the measure checked by it."""


@dataclass(frozen=True)
class PolicyDiagnosis:
    """What became of it.

    Attributes:
        run: How the run went.
        page: The report; ``None`` where a crash ended the run, or nothing finished.
        metrics: Content of ``metrics.json``; empty without a report.
        known_answer: The same of the known-answer check, empty when there was none.
    """

    run: RunResult
    page: Path | None = None
    metrics: dict[str, Any] = field(default_factory=dict)
    known_answer: dict[str, Any] = field(default_factory=dict)


def diagnose_policies(
    spec: RunSpec,
    out: Path,
    workers: int = 2,
    planted: int = Sizes.planted,
    commands: Sequence[str] = (),
    progress: Progress = silent,
    tracking: Tracking | None = None,
    **how: Unpack[HowToRun],
) -> PolicyDiagnosis:
    """Run what is missing of ``spec`` in ``out``, judge all of it, and write the report.

    Args:
        spec: The policies, and what they are asked.
        out: Run folder.
        workers: Worker processes, one thread each.
        planted: Conflict rollouts a pair and planted policy in the known-answer check of suite
            factors, kept in ``known_answer``; 0: no check.
        commands: What was typed, for the report.
        progress: Told how far each stage is.
        tracking: What mirrors the run elsewhere, without the known-answer check.
        how: How the episodes are run, see ``running.run``.

    Raises:
        UserError: As ``running.run``, ``judging.judge`` and ``reporting.report``.
    """
    result = run(spec, out, workers, progress, tracking=tracking, **how)
    if result.stopped or result.crashed_in_all == result.episodes:
        return PolicyDiagnosis(result)
    checked = (spec.suite, spec.world) == _CHECKED
    known_answer = (
        check_known_answer(spec.suite, out / KNOWN_ANSWER, planted, spec.base_seed, workers, progress)
        if checked
        else {}
    )
    metrics = judge(out, progress=progress)
    page = report(out, commands=commands, progress=progress, tracking=tracking)
    return PolicyDiagnosis(result, page, metrics, known_answer)
