"""``heedful collect``: demonstrations of the scripted experts, as a LeRobot dataset."""

from __future__ import annotations

from typing import Annotated

import typer

from heedful.cli.options import BaseSeed, Json, Out, Pairs, Suite, Workers, several
from heedful.cli.output import print_json
from heedful.cli.progress import progress


def _even(size_px: int) -> int:
    """Return ``size_px``; refuses an odd one, which no video can have."""
    if size_px % 2:
        raise typer.BadParameter(f"{size_px} is odd; videos need an even number of pixels.")
    return size_px


def collect(
    suite: Suite,
    out: Out,
    pairs: Pairs = None,
    demos: Annotated[int, typer.Option("--demos", min=1, help="Successful demonstrations a pair.")] = 300,
    image_size: Annotated[
        int,
        typer.Option(
            "--image-size", min=32, max=2048, callback=_even, help="Side of both images in px, even."
        ),
    ] = 256,
    base_seed: BaseSeed = 0,
    workers: Workers = 2,
    as_json: Json = False,
) -> None:
    """Collect demonstrations that teach a pair of factors; continues an unfinished dataset."""
    from heedful import workflows
    from heedful.spec.codec import to_json

    options = {"demos": demos, **({"pairs": several(pairs)} if pairs else {})}
    with progress() as tell:
        dataset = workflows.collect(suite, options, out, base_seed, image_size, workers, tell)
    if as_json:
        print_json(to_json(dataset))
        return
    print(dataset)
    print(f"Next: heedful train reference --data {out} --out POLICY")
