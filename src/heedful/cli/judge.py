"""``heedful judge``: verdicts on a run's recorded rollouts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.findings import print_findings
from heedful.cli.options import Json
from heedful.cli.output import print_json
from heedful.cli.progress import progress


def judge(
    folder: Annotated[Path, typer.Argument(help="Run folder.")],
    name: Annotated[
        str | None, typer.Option("--judge", help="Name of the judge; default: the one named like the suite.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Judge what a run recorded and compute its measures; needs no simulator."""
    from heedful import workflows

    with progress() as tell:
        metrics = workflows.judge(folder, name, tell)
    if as_json:
        print_json(metrics)
        return
    print_findings(metrics)
    print(f"Next: heedful report {folder}")
