"""The sheet for the person at the robot: what to set up, what to change next, a box a demonstration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from heedful.report.page import render
from heedful.spec.codec import digest
from heedful.spec.grammar import Factor
from heedful.spec.plan import Configuration, Plan, PlanRow

MARK = '<meta name="generator" content="heedful plan sheet">'
LARGEST_PANELS = 8
"""Most values of a third factor for which each gets a grid of its own."""

SHORT = 26
"""Longest instruction, in letters, that leaves room for its boxes on the same line."""


@dataclass(frozen=True)
class Setting:
    """A factor at a stop.

    Attributes:
        factor: Its name.
        value: What it has to be.
        before: What it was at the stop before; empty where that is the same, or at the first stop.
    """

    factor: str
    value: str
    before: str


@dataclass(frozen=True)
class Words:
    """One instruction of a stop and the numbers of its demonstrations."""

    text: str
    demonstrations: tuple[int, ...]


@dataclass(frozen=True)
class Stop:
    """A stay at one cell.

    Attributes:
        number: From 1.
        settings: Every factor of the grid, in order.
        words: Its instructions, in the order of their first demonstration.
        added: Whether it is there only to bring the factor changes up.
        done: Demonstrations collected once it is finished.
    """

    number: int
    settings: tuple[Setting, ...]
    words: tuple[Words, ...]
    added: bool
    done: int

    @property
    def changed(self) -> tuple[Setting, ...]:
        """Return what must be changed to get here."""
        return tuple(setting for setting in self.settings if setting.before)

    @property
    def kept(self) -> tuple[Setting, ...]:
        """Return what stays as it is."""
        return tuple(setting for setting in self.settings if not setting.before)


@dataclass(frozen=True)
class Cell:
    """A cell of a drawn grid; no demonstrations: it is not collected."""

    demonstrations: int
    stops: tuple[int, ...]
    added: bool


@dataclass(frozen=True)
class Panel:
    """A grid of two factors; ``title`` says at which value of a third."""

    title: str
    down: Factor
    across: Factor
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def sheet(plan: Plan, name: str) -> str:
    """Return the printable page of ``plan``, one HTML file that loads nothing.

    Args:
        plan: The plan.
        name: What the reader knows the plan as: the name of its file.
    """
    stops = schedule_stops(plan)
    counts = plan.demonstrations().values()
    return render(
        {
            "name": name,
            "plan": plan,
            "stops": stops,
            "panels": grid_panels(plan, stops),
            "each": f"{min(counts)}"
            if min(counts) == max(counts)
            else f"{min(counts)}\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}{max(counts)}",
            "short": max(len(row.instruction.text) for row in plan.rows) <= SHORT,
            "key": digest([row.instruction.text for row in plan.rows]),
        },
        "sheet.html.j2",
    )


def is_sheet(path: Path) -> bool:
    """Return whether ``path`` is a sheet of ours, which may be replaced."""
    return path.is_file() and MARK in path.read_text(encoding="utf-8", errors="replace")[:2000]


def schedule_stops(plan: Plan) -> tuple[Stop, ...]:
    """Return the stays of ``plan`` in order."""
    stays: list[tuple[Configuration, list[PlanRow]]] = [
        (cell, list(rows)) for cell, rows in groupby(plan.rows, key=lambda row: row.configuration)
    ]
    first_added = len(stays) - len(plan.added)
    stops: list[Stop] = []
    before: Configuration | None = None
    for number, (cell, rows) in enumerate(stays, start=1):
        done = stops[-1].done if stops else 0
        said: dict[str, list[int]] = {}
        for i, row in enumerate(rows, start=done + 1):
            said.setdefault(row.instruction.text, []).append(i)
        stops.append(
            Stop(
                number,
                tuple(
                    Setting(factor, value, old if old != value else "")
                    for factor, value, old in zip(plan.grid.names, cell, before or cell, strict=True)
                ),
                tuple(Words(text, tuple(numbers)) for text, numbers in said.items()),
                added=number > first_added,
                done=done + len(rows),
            )
        )
        before = cell
    return tuple(stops)


def grid_panels(plan: Plan, stops: Sequence[Stop]) -> tuple[Panel, ...]:
    """Return the grid as it is drawn: two factors once, three once for each value of the smallest.

    Other grids cannot be read when they are drawn flat; there is no panel for them.
    """
    factors = plan.grid.factors
    if len(factors) == 2:
        return (_panel(plan, stops, "", factors[0], factors[1], {}),)
    if len(factors) == 3:
        fixed = min(reversed(factors), key=lambda factor: len(factor.values))
        down, across = (factor for factor in factors if factor != fixed)
        if len(fixed.values) <= LARGEST_PANELS:
            return tuple(
                _panel(plan, stops, f"{fixed.name}: {value}", down, across, {fixed.name: value})
                for value in fixed.values
            )
    return ()


def _panel(
    plan: Plan, stops: Sequence[Stop], title: str, down: Factor, across: Factor, fixed: dict[str, str]
) -> Panel:
    counts = plan.demonstrations()
    at: dict[Configuration, list[Stop]] = {}
    for stop in stops:
        at.setdefault(tuple(setting.value for setting in stop.settings), []).append(stop)

    def cell(row: str, column: str) -> Cell:
        values = {**fixed, down.name: row, across.name: column}
        configuration = tuple(values[name] for name in plan.grid.names)
        visits = at.get(configuration, [])
        return Cell(
            counts.get(configuration, 0),
            tuple(stop.number for stop in visits),
            bool(visits) and all(stop.added for stop in visits),
        )

    return Panel(
        title,
        down,
        across,
        tuple((row, tuple(cell(row, column) for column in across.values)) for row in down.values),
    )
