"""``heedful report``: the report of a judged run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Track
from heedful.cli.output import command_line
from heedful.cli.progress import progress
from heedful.cli.refusal import say


def report(
    folder: Annotated[Path, typer.Argument(help="Run folder, judged.")],
    videos: Annotated[
        bool, typer.Option("--videos/--no-videos", help="Show one rollout of each label and pair.")
    ] = True,
    track: Track = None,
) -> None:
    """Write the report of a run into its folder: one static folder that opens from disk."""
    from heedful import workflows
    from heedful.workflows.tracking import tracking

    with progress() as tell, tracking(track, say) as tracked:
        page = workflows.report(folder, videos, (command_line(),), tell, tracked)
    print(page)
