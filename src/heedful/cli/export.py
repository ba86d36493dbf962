"""``heedful export``: recorded rollouts as a dataset for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Json, Workers
from heedful.cli.output import print_json
from heedful.cli.progress import progress


def export(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    out: Annotated[Path, typer.Argument(help="Folder of the dataset; an unfinished one is continued.")],
    to: Annotated[str, typer.Option("--to", help="Format: lerobot (LeRobot dataset v3.0).")] = "lerobot",
    policy: Annotated[
        list[str] | None, typer.Option("--policy", help="Only rollouts of this policy's name; repeatable.")
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option("--arm", help="Only rollouts of this arm, such as conflict; repeatable."),
    ] = None,
    only: Annotated[
        str, typer.Option("--only", help="success, failure or all; the first two need verdicts.")
    ] = "all",
    image_size: Annotated[
        int, typer.Option("--image-size", help="Side of every camera's images in px, even.")
    ] = 256,
    images: Annotated[
        str, typer.Option("--images", help="video (H.264), or png, which is larger and loses nothing.")
    ] = "video",
    workers: Workers = 2,
    as_json: Json = False,
) -> None:
    """Export finished rollouts as a dataset: images are drawn now, from the recorded states."""
    from heedful import workflows
    from heedful.spec.codec import to_json

    with progress() as tell:
        made = workflows.export(
            run, out, to, policy or (), arm or (), only, image_size, images, workers, tell
        )
    if as_json:
        print_json(to_json(made))
        return
    print(made.dataset)
    if made.rewards:
        print(f"  next.reward and next.success are the scores of the judge {made.judge}")
    if made.left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in made.left_out.items())
        print(f"  left out of {sum(made.left_out.values()) + made.dataset.episodes} rollouts: {reasons}")
    for remark in made.remarks:
        print(remark)
