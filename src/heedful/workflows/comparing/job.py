"""From a request to a page: plans, demonstrations, policies, rollouts, verdicts, results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.spec.errors import UserError, unknown
from heedful.spec.progress import Progress, silent
from heedful.store.disk import write_atomically
from heedful.store.findings_file import COMPARISON
from heedful.store.plan_file import holds, write_plan
from heedful.store.run_folder import RunFolder
from heedful.workflows.collecting import check_image_size, collect_from_plan
from heedful.workflows.comparing.bill import bill
from heedful.workflows.comparing.layout import CACHE, Layout, lay_out
from heedful.workflows.comparing.request import ComparisonRequest, checked
from heedful.workflows.comparing.results import results
from heedful.workflows.comparing.tables import differences_csv, success_csv
from heedful.workflows.folder_names import as_first_named
from heedful.workflows.judging import judge
from heedful.workflows.planning import grounding_order
from heedful.workflows.reporting import report
from heedful.workflows.running import resolve, run
from heedful.workflows.training import RECIPES, check_job, train_all


@dataclass(frozen=True)
class ComparisonResult:
    """What a comparison leaves behind.

    Attributes:
        page: The report.
        comparison: Content of ``comparison.json``.
    """

    page: Path
    comparison: dict[str, Any]


def compare(
    request: ComparisonRequest,
    out: Path,
    order: Sequence[str] | None = None,
    run_to_order: Path | None = None,
    workers: int = 2,
    commands: Sequence[str] = (),
    progress: Progress = silent,
) -> ComparisonResult:
    """Plan, collect, train, evaluate and compare; what is there already is not done again.

    Under ``out``: ``plans/*.csv``, ``demonstrations/`` (each one once), ``data/<slug>``,
    ``policies/<slug>``, the run of suite grid itself, ``comparison.json`` and its tables
    ``success.csv`` and ``differences.csv``. The same command with more strategies, budgets,
    seeds or rollouts adds to it.

    Args:
        request: What to compare.
        out: Folder of the comparison.
        order: Factors from the best to the worst grounded; ``None``: the published order.
        run_to_order: A judged run of suite factors to take the order from instead.
        workers: Worker processes, one thread each.
        commands: What was typed, for the report.
        progress: Told how far each stage is.

    Raises:
        UserError: Something named is unknown or cannot be, or ``out`` holds something else.
    """
    layout = laid_out(request, out, order, run_to_order)
    RunFolder.open(out, resolve(layout.run_spec())[0]).close()  # refuses another run before any work
    for lesson in layout.lessons:
        if not holds(lesson.plan, lesson.plan_file):
            write_plan(lesson.plan, lesson.plan_file)
    datasets = {
        data: collect_from_plan(
            plan,
            data,
            base_seed=layout.request.base_seed,
            image_size_px=layout.request.image_size_px,
            workers=workers,
            progress=_named(progress, data.name),
            cache=out / CACHE,
        )
        for data, plan in layout.datasets().items()
    }
    jobs = layout.jobs()
    trained = dict(zip([job.out for job in jobs], train_all(jobs, workers, progress), strict=True))
    run(layout.run_spec(), out, workers, progress)
    judge(out, progress=progress)
    folder = RunFolder.open(out)
    found = results(
        layout,
        folder.rows(),
        folder.judgement(),
        bill(layout, workers),
        datasets,
        trained,
        commands,
    )
    COMPARISON.write(out, found)
    write_atomically(out / "success.csv", success_csv(found).encode())
    write_atomically(out / "differences.csv", differences_csv(found).encode())
    return ComparisonResult(report(out, progress=progress), found)


def laid_out(
    request: ComparisonRequest,
    out: Path,
    order: Sequence[str] | None = None,
    run_to_order: Path | None = None,
) -> Layout:
    """Return what ``compare`` would do, after checking what can be checked; nothing is written.

    Raises:
        UserError: As ``compare``.
    """
    request = checked(request)
    if request.recipe not in RECIPES:
        raise unknown("policy recipe", request.recipe, RECIPES)
    check_image_size(request.image_size_px)
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; a comparison needs a folder of its own.")
    out = as_first_named(out, out)
    layout = lay_out(request, grounding_order(request.factors, order, run_to_order), out)
    for job in layout.jobs():
        check_job(job)
    for lesson in layout.lessons:
        if lesson.plan_file.exists() and not holds(lesson.plan, lesson.plan_file):
            raise UserError(
                f"{lesson.plan_file} holds another plan (of other factors, or in another factor order); "
                "use a new folder."
            )
    return layout


def _named(progress: Progress, name: str) -> Progress:
    """Return ``progress`` with stages that say which dataset they are about."""

    def told(stage: str, done: int, total: int, note: str = "") -> None:
        progress(f"{stage} {name}", done, total, note)

    return told
