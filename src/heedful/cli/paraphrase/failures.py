"""``heedful paraphrase failures``: which failures went the right way and missed, which went elsewhere."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.options import Json
from heedful.cli.output import command_line, print_json, print_table
from heedful.cli.progress import progress

if TYPE_CHECKING:
    from heedful.metrics.path_failures import Group, PolicyFailures, Share


class Frame(StrEnum):
    """In which frame paths are compared."""

    auto = "auto"
    world = "world"
    target = "target"


def failures(
    recordings: Annotated[
        list[Path],
        typer.Argument(
            help="Judged run folders; or tables with policy, task, episode, success, step, x, y, z."
        ),
    ],
    frame: Annotated[
        Frame,
        typer.Option("--frame", help="Compare paths as recorded, or moved to one place of the target."),
    ] = Frame.auto,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the page with its figures.")] = None,
    points: Annotated[
        int, typer.Option("--points", min=2, max=10_000, help="Points a path is resampled to.")
    ] = 50,
    least: Annotated[
        int, typer.Option("--least-successes", min=2, help="Successes that a task needs for a corridor.")
    ] = 5,
    width: Annotated[
        float | None,
        typer.Option(
            "--least-width", min=0.0, help="In metres; no corridor is narrower (world 0, target 0.03)."
        ),
    ] = None,
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Compare each success with the mean of the others.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tell failures of execution (near the successful paths) from failures of planning (far from them)."""
    from heedful.report.failures import build, remarks, summary
    from heedful.report.site import check_place
    from heedful.workflows.paraphrase import failures as work

    if out is not None:
        check_place(out)
    with progress() as tell:
        found = work.failures(
            recordings,
            frame.value,
            points=points,
            least_successes=least,
            leave_one_out=leave_one_out,
            least_width_m=width,
            commands=(command_line(),),
            progress=tell,
        )
    page = build(found, out) if out is not None else None
    if as_json:
        print_json(summary(found))
        return
    for policy in found.policies:
        _print_policy(policy)
    for line in remarks(found):
        print(line)
    if page is not None:
        print(page)


def _print_policy(policy: PolicyFailures) -> None:
    from heedful.metrics.paths import THRESHOLDS

    rows = [("all" if policy.arms else "", policy.total)]
    for groups in (policy.arms, policy.categories):
        rows += [(g.name, g) for g in groups]
    print_table(
        f"{policy.name}: share of failures that are far (planning), by threshold",
        ("", "successes", "failures", "no corridor", *THRESHOLDS, "95 % interval at max"),
        [(name, *_cells(group)) for name, group in rows],
    )
    if policy.left_out:
        print("Left out: " + ", ".join(f"{n} {reason}" for reason, n in policy.left_out.items()) + ".")


def _cells(group: Group) -> tuple[str, ...]:
    shares = group.shares.values()
    widest = group.shares["max"].rate
    ends = (
        ""
        if widest.low is None or widest.high is None
        else f"{100 * widest.low:.1f} to {100 * widest.high:.1f}"
    )
    counts = (group.successes, group.failures, group.unclassified)
    return (*map(str, counts), *(_far(share) for share in shares), ends)


def _far(share: Share) -> str:
    if share.rate.value is None:
        return "–"
    return f"{100 * share.rate.value:.1f} % ({share.far}/{share.far + share.near})"
