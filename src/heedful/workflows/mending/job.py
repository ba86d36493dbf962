"""The closed loop: diagnose, plan, collect, train again, diagnose again beside a matched control."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.planning.grounding import GroundingOrder, measured_order
from heedful.spec.codec import from_json, to_json
from heedful.spec.errors import UserError
from heedful.spec.plan import Plan
from heedful.spec.progress import Progress, silent
from heedful.spec.run import RunSpec
from heedful.store.datasets import DatasetSummary, check_dataset
from heedful.store.disk import write_atomically
from heedful.store.findings_file import MEND
from heedful.store.json_file import read_json
from heedful.store.plan_file import holds, write_plan
from heedful.store.run_folder import RunFolder
from heedful.workflows.folder_names import as_first_named
from heedful.workflows.judging import judge
from heedful.workflows.mend_report import mend_report
from heedful.workflows.mending.bill import bill
from heedful.workflows.mending.request import MendRequest, checked, planned
from heedful.workflows.mending.results import Evidence, results
from heedful.workflows.mending.stages import (
    CONFLICTS,
    GRID,
    Stage,
    after,
    before,
    conflicts_spec,
    control,
    grid_spec,
)
from heedful.workflows.running import resolve, run
from heedful.workflows.training import check_job, train_all

CACHE = "demonstrations"
_REQUEST, _GROUNDING = "request.json", "grounding.json"


@dataclass(frozen=True)
class MendResult:
    """What the closed loop leaves behind.

    Attributes:
        page: The report.
        mend: Content of ``mend.json``.
    """

    page: Path
    mend: dict[str, Any]


def mend(
    request: MendRequest,
    out: Path,
    workers: int = 2,
    commands: Sequence[str] = (),
    progress: Progress = silent,
) -> MendResult:
    """Find a bias, collect what mends it, and show that it did; what is there is not done again.

    Under ``out``: ``data/``, ``policies/`` and ``demonstrations/`` (each one once), the runs
    ``conflicts`` and ``grid``, ``plan.csv``, ``mend.json`` and the report. The plan follows the
    first diagnosis: more training seeds later do not change what is collected.

    Args:
        request: What to mend, and how much of everything.
        out: Folder of the loop.
        workers: Worker processes, one thread each.
        commands: What was typed, for the report.
        progress: Told how far each stage is.

    Raises:
        UserError: Something named is unknown or cannot be, or ``out`` holds something else.
    """
    out = as_first_named(out, out / CONFLICTS)
    request = ready(request, out)
    _remember(request, out)
    first, same = before(request, out), control(request, out)
    RunFolder.open(out / CONFLICTS, resolve(conflicts_spec(request, first))[0]).close()
    RunFolder.open(out / GRID, resolve(grid_spec(request, first))[0]).close()
    data, trained = {}, {}

    def learn(*stages: Stage) -> None:
        for stage in stages:
            data[stage.key] = _collect(request, stage, out, workers, progress)
        jobs = [job for stage in stages for job in stage.jobs(request)]
        doing = f"train {' and '.join(stage.key for stage in stages)}"
        for job, summary in zip(jobs, train_all(jobs, workers, progress, doing), strict=True):
            trained[job.out] = summary
        for name, spec in (
            (CONFLICTS, conflicts_spec(request, *stages)),
            (GRID, grid_spec(request, *stages)),
        ):
            _evaluate(spec, out / name, name, workers, progress)

    learn(first)
    grounding = _grounding(request, out, first)
    plan = _planned(request, grounding, out)
    then = after(request, plan, out)
    learn(same, then)
    grid = RunFolder.open(out / GRID)
    evidence = Evidence(
        (first, same, then),
        RunFolder.open(out / CONFLICTS).metrics(),
        grid.rows(),
        grid.judgement(),
        data,
        trained,
    )
    found = results(request, plan, grounding, evidence, bill(request, out, workers), commands)
    MEND.write(out, found)
    return MendResult(mend_report(out), found)


def ready(request: MendRequest, out: Path) -> MendRequest:
    """Return ``request``, checked as far as can be before anything is computed; nothing is written.

    Raises:
        UserError: As ``mend``.
    """
    request = checked(request)
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; mending needs a folder of its own.")
    for stage in (before(request, out), control(request, out)):
        for job in stage.jobs(request):
            check_job(job)
    kept = out / _REQUEST
    if kept.exists():
        held, asked = read_json(kept), _identity(request)
        differ = [
            f"{key} {held.get(key)}, not {value}" for key, value in asked.items() if held.get(key) != value
        ]
        if differ:
            raise UserError(f"{out} was made with {'; '.join(differ)}. Choose another folder.")
    elif out.is_dir() and any(out.iterdir()):
        raise UserError(f"{out} is not empty and not of `heedful mend`; choose another folder.")
    return request


def _identity(request: MendRequest) -> dict[str, Any]:
    """Return what must stay the same in one folder; seeds and rollouts may grow."""
    growing = ("seeds", "rollouts", "in_distribution", "empty")
    return {key: value for key, value in to_json(request).items() if key not in growing}


def _remember(request: MendRequest, out: Path) -> None:
    if not (out / _REQUEST).exists():
        write_atomically(out / _REQUEST, json.dumps(_identity(request), indent=1).encode())


def _collect(
    request: MendRequest, stage: Stage, out: Path, workers: int, progress: Progress
) -> DatasetSummary:
    from heedful.rollouts.collect import collect

    collect(
        stage.tasks,
        stage.data,
        base_seed=request.base_seed,
        image_size=request.image_size_px,
        workers=workers,
        progress=progress,
        stage=f"collect {stage.key}",
        cache=out / CACHE,
    )
    return check_dataset(stage.data)


def _evaluate(spec: RunSpec, out: Path, name: str, workers: int, progress: Progress) -> None:
    policy = spec.policies[0].name

    def told(stage: str, done: int, total: int, note: str = "") -> None:
        progress(f"{stage} {name}, {policy}", done, total, note)

    run(spec, out, workers, told)
    judge(out, progress=told)


def _grounding(request: MendRequest, out: Path, first: Stage) -> GroundingOrder:
    """Return the order that the first diagnosis measured; what was decided once stays decided."""
    kept = out / _GROUNDING
    if kept.exists():
        remedy = f"delete it and {out / 'plan.csv'}; the same command plans anew"
        return from_json(GroundingOrder, read_json(kept, remedy), str(kept))
    metrics = RunFolder.open(out / CONFLICTS).metrics()
    found = measured_order(metrics, request.factors, policy=first.name)
    write_atomically(kept, json.dumps(to_json(found), indent=1, ensure_ascii=False).encode())
    return found


def _planned(request: MendRequest, grounding: GroundingOrder, out: Path) -> Plan:
    plan, path = planned(request, grounding.order), out / "plan.csv"
    if path.exists() and not holds(plan, path):
        raise UserError(
            f"{path} was changed; delete it and the same command writes the plan of this loop anew."
        )
    if not path.exists():
        write_plan(plan, path)
    return plan
