"""``heedful collect``: demonstrations of the scripted experts, as a LeRobot dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import BaseSeed, Factors, Json, Out, Pairs, Workers, several
from heedful.cli.output import print_json
from heedful.cli.progress import progress


def _even(size_px: int) -> int:
    """Return ``size_px``; refuses an odd one, which no video can have."""
    if size_px % 2:
        raise typer.BadParameter(f"{size_px} is odd; videos need an even number of pixels.")
    return size_px


def collect(
    out: Out,
    suite: Annotated[str | None, typer.Argument(help="Name of the suite, see `heedful list`.")] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="Plan to carry out, as `heedful plan` wrote it.")
    ] = None,
    pairs: Pairs = None,
    factors: Factors = None,
    demos: Annotated[
        int | None,
        typer.Option("--demos", min=1, help="Successful demonstrations a pair (300) or grid (200)."),
    ] = None,
    image_size: Annotated[
        int,
        typer.Option(
            "--image-size", min=32, max=2048, callback=_even, help="Side of both images in px, even."
        ),
    ] = 256,
    cache: Annotated[
        Path | None,
        typer.Option("--cache", help="Folder of finished demonstrations, shared between datasets."),
    ] = None,
    base_seed: BaseSeed = 0,
    workers: Workers = 2,
    as_json: Json = False,
) -> None:
    """Collect demonstrations of a suite or of a plan; continues an unfinished dataset."""
    from heedful.spec.codec import to_json
    from heedful.spec.errors import UserError
    from heedful.workflows import collecting

    if (suite is None) == (plan is None):
        raise UserError(
            "Name either a suite, such as factors, or a plan with --plan; "
            + ("neither is named." if plan is None else f"both {suite} and {plan} are named.")
        )
    options = {"pairs": several(pairs) or None, "factors": factors, "demos": demos}
    options = {name: value for name, value in options.items() if value is not None}
    if plan is not None and options:
        named = {"pairs": "--pair", "factors": "--factors", "demos": "--demos"}
        given = " and ".join(named[name] for name in options)
        raise UserError(f"The plan says what to collect; leave out {given}.")
    how = (base_seed, image_size)
    with progress() as tell:
        if plan is not None:
            dataset = collecting.collect_plan(plan, out, *how, workers, tell, cache)
        else:
            dataset = collecting.collect(str(suite), options, out, *how, workers, tell, cache)
    if as_json:
        print_json(to_json(dataset))
        return
    print(dataset)
    print(f"Next: heedful train reference --data {out} --out POLICY")
