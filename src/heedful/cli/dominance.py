"""``heedful dominance``: Copeland scores and hierarchies from a table of FDRs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Json
from heedful.cli.output import hierarchy_text, print_json, print_table


class Unit(StrEnum):
    """How the numbers of a table are written."""

    auto = "auto"
    percent = "percent"
    fraction = "fraction"


def dominance(
    table: Annotated[Path, typer.Argument(help="CSV: factor_1, factor_2, then one column a policy.")],
    tau: Annotated[float, typer.Option("--tau", help="Tie threshold, a fraction: 0.05 is 5 %.")] = 0.05,
    unit: Annotated[Unit, typer.Option("--unit", help="How the table's numbers are written.")] = Unit.auto,
    as_json: Json = False,
) -> None:
    """Rank the factors of every policy in a table of Factor Dominance Rates."""
    from heedful.metrics import dominance as measure
    from heedful.metrics.fdr_table import read_fdr_table

    read = read_fdr_table(table, unit=unit.value)
    found = measure.dominance(read, tau)
    if as_json:
        print_json(found)
        return
    print_table(
        f"Copeland scores and hierarchy at tau = {tau:g}",
        ("policy", *read.factors, "hierarchy"),
        [
            (name, *(of["copeland"][factor] for factor in read.factors), hierarchy_text(of["hierarchy"]))
            for name, of in found["policies"].items()
        ],
    )
    for name, of in found["policies"].items():
        if of.get("missing"):
            pairs = "; ".join(",".join(pair) for pair in of["missing"])
            print(f"{name}: no value for {pairs}; a missing pair scores nothing.")
