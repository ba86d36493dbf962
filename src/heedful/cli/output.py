"""Results on standard output: tables for people, JSON for scripts."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, redirect_stdout
from typing import Any


def results_only() -> AbstractContextManager[object]:
    """Keep what policies and libraries print off standard output, which is for results."""
    return redirect_stdout(sys.stderr)


def print_json(data: Any) -> None:
    """Print plain data as indented JSON."""
    print(json.dumps(data, indent=2, ensure_ascii=False))


def print_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; the first column is the name of the row."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for i, name in enumerate(head):
        table.add_column(name, no_wrap=i == 0, overflow="fold")
    for row in rows:
        table.add_row(*("" if cell is None else str(cell) for cell in row))
    # A file or a pipe has no width; lines broken at 80 columns would be hard to search.
    width = None if sys.stdout.isatty() else 200
    Console(highlight=False, markup=False, width=width).print(table)


def hierarchy_text(levels: Sequence[Sequence[str]]) -> str:
    """Return an order with its ties: ``color > object = spatial > verb``.

    >>> hierarchy_text([["color"], ["object", "spatial"], ["verb"]])
    'color > object = spatial > verb'
    """
    return " > ".join(" = ".join(level) for level in levels)


def command_line() -> str:
    """Return what was typed, fit to be typed again."""
    return shlex.join(["heedful", *sys.argv[1:]])
