"""``heedful collect``: demonstrations of the scripted experts, as a LeRobot dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.options import BaseSeed, DryRun, Factors, Json, Out, Pairs, Workers, several
from heedful.cli.output import print_json, print_table
from heedful.cli.progress import progress

if TYPE_CHECKING:
    from heedful.workflows.collecting_plan import CollectionPlan


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
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Collect demonstrations of a suite or of a plan; continues an unfinished dataset."""
    from heedful.spec.codec import to_json
    from heedful.spec.errors import UserError
    from heedful.workflows import collecting, collecting_plan

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
    if dry_run:
        if plan is not None:
            planned = collecting_plan.planned_collection_of_plan(plan, out, *how, workers, cache)
        else:
            planned = collecting_plan.planned_collection(str(suite), options, out, *how, workers, cache)
        if as_json:
            print_json({**to_json(planned), "left": planned.left})
        else:
            _print_plan(planned, out, workers, cache)
        return
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


def _print_plan(plan: CollectionPlan, out: Path, workers: int, cache: Path | None) -> None:
    """Print what would be collected, what is there, and the cost of the rest."""
    print_table(
        "Demonstrations",
        ("about", "values", "demonstrations"),
        [
            (about, values, count)
            for about, counted in plan.table.items()
            for values, count in counted.items()
        ],
    )
    side = plan.image_size_px
    print(
        f"{plan.demonstrations} demonstrations of {plan.instructions} different instructions, "
        f"cameras {' and '.join(plan.cameras)} at {side}x{side} px."
    )
    if plan.complete:
        print(f"{out} holds this dataset already, finished: it would only be checked.")
        return
    if plan.there:
        print(f"{plan.there} of them are in {out} already.")
    if cache is not None:
        print(f"{plan.cached} of them are in the cache {cache}.")
    kept = ", as much again in the cache" if cache is not None else ""
    cost = f"{_time(plan.minutes)} with {workers} worker{'s' * (workers != 1)}"
    size = f"about {plan.disk_mb:.0f} MB" if plan.disk_mb >= 1 else "under 1 MB"
    if plan.left:
        print(f"{plan.left} to collect, {cost}; the dataset takes {size}{kept}.")
    else:
        print(f"None is left to collect; the dataset takes {size}{kept}.")


def _time(minutes: float) -> str:
    """Return a rough time in words."""
    if minutes >= 2:
        return f"about {minutes:.0f} minutes"
    return f"about {60 * minutes:.0f} s" if 60 * minutes >= 10 else "a few seconds"
