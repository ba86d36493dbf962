"""``heedful compare``: collection strategies compared on learned policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.options import (
    BaseSeed,
    DryRun,
    Encoder,
    ImageSize,
    Json,
    Order,
    OrderFrom,
    Out,
    Seeds,
    Steps,
    Workers,
    names,
)
from heedful.cli.output import command_line, print_json, print_table
from heedful.cli.progress import progress
from heedful.spec.errors import UserError, unknown

if TYPE_CHECKING:
    from heedful.workflows.comparing import Bill, Layout


def compare(
    factors: Annotated[str, typer.Option("--factors", help="Factors of the grid, such as color,object.")],
    out: Out,
    strategies: Annotated[
        str, typer.Option("--strategies", help="Out of complete, random, l, v and v-full.")
    ] = "v,l,random",
    changes: Annotated[
        str | None,
        typer.Option("--changes", help="Factor changes f, such as 12,18,24; default: the least for all."),
    ] = None,
    demos: Annotated[
        str, typer.Option("--demos", help="Demonstrations n; a list with --vary demos.")
    ] = "200",
    vary: Annotated[
        str, typer.Option("--vary", help="What takes several values: changes or demos.")
    ] = "changes",
    seeds: Seeds = 3,
    rollouts: Annotated[
        int, typer.Option("--rollouts", min=1, help="Rollouts over the whole grid, a policy.")
    ] = 200,
    empty: Annotated[
        int, typer.Option("--empty", min=0, help="Control rollouts without words, a policy.")
    ] = 40,
    order: Order = None,
    run: OrderFrom = None,
    encoder: Encoder = "minilm",
    steps: Steps = None,
    image_size: ImageSize = 192,
    base_seed: BaseSeed = 0,
    workers: Workers = 2,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Compare collection strategies at equal f and n: plan, collect, train, evaluate, report."""
    from heedful.workflows.comparing import ComparisonRequest, bill, laid_out
    from heedful.workflows.comparing import compare as compare_strategies

    budgets = counts(changes or "", "--changes")
    request = ComparisonRequest(
        factors=tuple(names(factors)),
        strategies=tuple(names(strategies)),
        changes=budgets,
        demos=_demos(demos, vary, budgets),
        seeds=seeds,
        rollouts=rollouts,
        empty=empty,
        image_size_px=image_size,
        steps=steps,
        encoder=encoder,
        base_seed=base_seed,
    )
    ranks = names(order) if order is not None else None
    layout = laid_out(request, out, ranks, run)
    if dry_run:
        _print_bill(layout, bill(layout, workers), workers, as_json)
        return
    if not as_json:
        for one in layout.left_out:
            print(one.sentence)
    with progress() as tell:
        done = compare_strategies(request, out, ranks, run, workers, (command_line(),), tell)
    if as_json:
        print_json({"report": str(done.page), "comparison": done.comparison})
        return
    _print_findings(done.comparison)
    print(f"Report: {done.page}")


_DIGITS = 9
"""More digits are a slip of the keyboard."""


def counts(text: str, option: str) -> tuple[int, ...]:
    """Return whole numbers between commas.

    Raises:
        UserError: One of them is none.
    """
    found = []
    for part in names(text):
        if not (part.isascii() and part.isdecimal() and len(part) <= _DIGITS):
            raise UserError(
                f"{option} takes whole numbers between commas, such as 12,18; found {part[:20]!r}."
            )
        found.append(int(part))
    return tuple(found)


def _demos(text: str, vary: str, changes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the numbers of demonstrations, several only with ``--vary demos`` and one f."""
    if vary not in ("changes", "demos"):
        raise unknown("value of --vary", vary, ("changes", "demos"))
    found = counts(text, "--demos")
    if vary == "changes" and len(set(found)) > 1:
        raise UserError(f"--demos {text} has several values: say --vary demos, with one value of --changes.")
    if vary == "demos" and len(set(changes)) > 1:
        raise UserError("--vary demos compares at one f; give --changes one value.")
    return found


def _print_bill(layout: Layout, cost: Bill, workers: int, as_json: bool) -> None:
    """Print the plans and what they cost."""
    arms: list[dict[str, Any]] = []
    for arm in layout.arms:
        plans = [lesson.plan for lesson in layout.lessons if lesson.arm == arm]
        shown = [count for plan in plans for count in plan.demonstrations().values()]
        cells = [len(plan.cells) for plan in plans]
        arms.append(
            {
                "strategy": arm.strategy,
                "f": sorted({plan.changes for plan in plans}),
                "n": sorted({len(plan.rows) for plan in plans}),
                "cells": [min(cells), max(cells)],
                "cells_of_grid": plans[0].grid.cell_count,
                "demonstrations_a_cell": [min(shown), max(shown)],
                "policies": len(plans),
            }
        )
    left_out = [one.sentence for one in layout.left_out]
    if as_json:
        print_json(
            {
                "arms": arms,
                "left_out": left_out,
                "order": list(layout.grounding.order),
                "order_from": layout.grounding.source,
                "remarks": list(layout.grounding.remarks),
                "bill": {**asdict(cost), "minutes": cost.minutes},
            }
        )
        return
    for sentence in left_out:
        print(sentence)
    print_table(
        f"Strategies over {' x '.join(layout.request.factors)}; "
        f"order {' > '.join(layout.grounding.order)} ({layout.grounding.source})",
        ("strategy", "f", "n", "cells", "demonstrations a cell", "policies"),
        [
            (
                arm["strategy"],
                ", ".join(map(str, arm["f"])),
                ", ".join(map(str, arm["n"])),
                f"{_span(arm['cells'])} of {arm['cells_of_grid']}",
                _span(arm["demonstrations_a_cell"]),
                arm["policies"],
            )
            for arm in arms
        ],
    )
    for remark in layout.grounding.remarks:
        print(f"Note: {remark}")
    print_bill(cost, workers)


def print_bill(cost: Bill, workers: int) -> None:
    """Print a bill."""
    print_table(
        "The bill, from nothing",
        ("what", "how many", "about"),
        [
            (
                "demonstrations",
                f"{cost.demonstrations} different, for {cost.asked_demonstrations} planned",
                f"{cost.collect_min:.0f} min",
            ),
            ("trainings", f"{cost.trainings} of {cost.steps} steps", f"{cost.train_min:.0f} min"),
            ("rollouts", cost.episodes, f"{cost.run_min:.0f} min"),
            ("disk", f"{cost.datasets} datasets and what is above", f"{cost.disk_mb:.0f} MB"),
        ],
    )
    print(
        f"About {cost.minutes:.0f} minutes with {workers} workers on as many cores; "
        "what is there is not redone."
    )


def _span(ends: list[int]) -> str:
    return str(ends[0]) if ends[0] == ends[-1] else f"{ends[0]} to {ends[-1]}"


def _print_findings(found: Mapping[str, Any]) -> None:
    """Print success of every strategy, and every verdict."""
    from heedful.report.words import percent, percent_interval
    from heedful.spec.codec import from_json
    from heedful.spec.rollout import Estimate

    def shown(arm: Mapping[str, Any], part: str) -> str:
        rate = from_json(Estimate, arm["success"][part]["pooled"]["rate"])
        return f"{percent(rate.value)} {percent_interval(rate)}"

    print_table(
        "Success, 95 % interval over cells and training seeds",
        ("strategy", "f", "n", "cells", "held out", "collected", "whole grid"),
        [
            (
                arm["strategy"],
                arm["plans"][0]["f"],
                arm["plans"][0]["n"],
                _span(sorted({plan["cells"] for plan in arm["plans"]})),
                shown(arm, "held_out"),
                shown(arm, "collected"),
                shown(arm, "all"),
            )
            for arm in found["arms"]
        ],
    )
    for one in found["differences"]:
        if one["ground"] == "own_held_out":
            print(f"f {one['changes']}, n {one['demos']}: {one['verdict']}")
