"""``heedful plan``: which demonstrations to collect next, in which order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.options import Json, Order, OrderFrom, names
from heedful.cli.output import print_json, print_table

if TYPE_CHECKING:
    from heedful.spec.plan import Plan
    from heedful.workflows.planning import PlanResult


def plan(
    factors: Annotated[str, typer.Option("--factors", help="Factors to vary, such as color,object.")],
    demos: Annotated[int, typer.Option("--demos", min=1, help="Demonstrations in all, n.")],
    out: Annotated[Path, typer.Option("--out", help="CSV to write; a JSON of the same name joins it.")],
    strategy: Annotated[
        str, typer.Option("--strategy", help="complete, random, l, v (the text) or v-full (the algorithm).")
    ] = "v",
    changes: Annotated[
        int | None,
        typer.Option("--changes", min=0, help="Factor changes f, reached exactly; default: the least."),
    ] = None,
    run: OrderFrom = None,
    policy: Annotated[str | None, typer.Option("--policy", help="Which policy of that run.")] = None,
    order: Order = None,
    base: Annotated[
        str | None, typer.Option("--base", help="Base configuration, one value a factor: red,cube.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of random cells.")] = 0,
    grammar: Annotated[
        str, typer.Option("--grammar", help="tabletop, bun, pizza, cup, or your own YAML file.")
    ] = "tabletop",
    sheet: Annotated[
        Path | None, typer.Option("--sheet", help="HTML to print for the person at the robot.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is at --out and --sheet.")] = False,
    as_json: Json = False,
) -> None:
    """Plan which demonstrations to collect next, and count what the plan costs."""
    from heedful.workflows import planning

    done = planning.plan(
        names(factors),
        strategy,
        demos,
        out,
        changes,
        names(order) if order is not None else None,
        run,
        policy,
        _values(base) if base is not None else None,
        seed,
        grammar,
        sheet,
        force,
    )
    if as_json:
        print_json(_summary(done))
        return
    _print(done)


def grammar_text(source: str) -> str:
    """Return a grammar's source, and whether it is ours: ``bun.yaml`` may have fallen back to that."""
    from heedful.spec.grammar_file import shipped_grammars

    return f"{source}, which comes with heedful" if source in shipped_grammars() else source


def _values(values: str) -> list[str]:
    """Return the values between commas; a value may hold blanks."""
    return [value.strip() for value in values.split(",")]


def _summary(done: PlanResult) -> dict[str, Any]:
    """Return what was planned, as plain JSON data."""
    plan = done.plan
    counts = plan.demonstrations()
    return {
        "plan": str(done.path),
        "sheet": str(done.sheet) if done.sheet else None,
        "grammar": plan.grammar,
        "factors": list(plan.grid.names),
        "strategy": plan.strategy,
        "base": list(plan.grid.base),
        "seed": plan.seed,
        "order": list(done.grounding.order),
        "order_from": done.grounding.source,
        "under_grounded": list(done.under_grounded),
        "remarks": list(done.grounding.remarks),
        "cells": len(counts),
        "cells_of_grid": plan.grid.cell_count,
        "changes": plan.changes,
        "changes_of_strategy": done.minimum,
        "added_cells": [list(cell) for cell in plan.added],
        "demonstrations": len(plan.rows),
        "demonstrations_per_cell": [min(counts.values()), max(counts.values())],
        "carriers": sorted(plan.rows[0].carriers),
        "already_there": done.already,
    }


def _print(done: PlanResult) -> None:
    """Print the plan's summary for people."""
    plan = done.plan
    found = _summary(done)
    fewest, most = found["demonstrations_per_cell"]
    each = str(most) if fewest == most else f"{fewest} to {most}"
    changes = str(plan.changes)
    if plan.strategy != "random":
        changes += f" ({done.minimum} of the strategy"
        changes += f", {plan.changes - done.minimum} of stays at random cells added)" if plan.added else ")"
    grounding = f"{' > '.join(done.grounding.order)} ({done.grounding.source})"
    if done.under_grounded and plan.strategy == "v":
        grounding += f"; under-grounded: {', '.join(done.under_grounded)}"
    print(f"{done.path}: strategy {plan.strategy} over {' x '.join(plan.grid.names)}")
    print(f"  cells           {found['cells']} of {found['cells_of_grid']:,}")
    print(f"  factor changes  {changes}")
    print(f"  demonstrations  {len(plan.rows)}, {each} a cell")
    print(f"  base            {' + '.join(plan.grid.base)}")
    if plan.grammar != "tabletop":
        print(f"  grammar         {grammar_text(plan.grammar)}")
    print(f"  factor order    {grounding}")
    for remark in done.grounding.remarks:
        print(f"Note: {remark}")
    if len(plan.grid.names) == 2:
        _print_grid(plan)
    if done.already:
        print(f"{done.path} was there already and is the same.")
    if done.sheet:
        print(f"To print: {done.sheet}")
    if plan.grammar == "tabletop":
        print(f"Next: heedful collect --plan {done.path} --out data/{done.path.stem}")
    elif not done.sheet:
        print("Next: collect it at your robot; --sheet plan.html writes a sheet to print for that.")


def _print_grid(plan: Plan) -> None:
    """Print the demonstrations of each cell; a cell that was only added to reach f is marked."""
    counts = plan.demonstrations()
    first, second = plan.grid.factors
    only_added = set(plan.added) - set(plan.visits[: len(plan.visits) - len(plan.added)])

    def shown(row: str, column: str) -> str:
        count = counts.get((row, column))
        if count is None:
            return "."
        return f"{count}+" if (row, column) in only_added else str(count)

    print_table(
        "Demonstrations a cell",
        (f"{first.name} \\ {second.name}", *second.values),
        [(row, *(shown(row, column) for column in second.values)) for row in first.values],
    )
    if only_added:
        print("+ added at random, only to reach f")
