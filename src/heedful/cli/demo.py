"""``heedful demo``: the main job on the embedded default, in minutes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.findings import print_findings
from heedful.cli.options import BaseSeed, Json, Workers
from heedful.cli.output import print_json, print_table
from heedful.cli.progress import progress


def demo(
    out: Annotated[Path, typer.Option("--out", help="Run folder.")] = Path("runs/demo"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Far too little of everything: shows only that it works.")
    ] = False,
    base_seed: BaseSeed = 0,
    workers: Workers = 2,
    as_json: Json = False,
) -> None:
    """Show a whole diagnosis: check the measure on planted policies, then teach and test one."""
    from heedful import workflows
    from heedful.workflows.demonstration import SIZES
    from heedful.workflows.diagnosis import Sizes

    few = Sizes(demos=12, rollouts=8, in_distribution=6, empty=4, planted=4, image_size_px=128, steps=20)
    sizes = few if quick else SIZES
    with progress() as tell:
        shown = workflows.demo(out, sizes, base_seed, workers, tell)
    if as_json:
        print_json(
            {
                "report": str(shown.page),
                "metrics": shown.metrics,
                "known_answer": shown.known_answer,
                "stages_s": shown.stages_s,
            }
        )
        return
    print("Known answer: policies whose factor order was planted.")
    print_findings(shown.known_answer)
    print("\nThe reference policy, trained from pixels and words.")
    print_findings(shown.metrics)
    print_table("Time", ("stage", "s"), [(stage, f"{s:.0f}") for stage, s in shown.stages_s.items()])
    print(f"Report: {shown.page}")
