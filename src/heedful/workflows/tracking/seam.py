"""The seam that an experiment tracker implements, and what it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

Number = int | float | None
"""What a tracker is told under a name; ``None`` for a measure that is undefined."""


@dataclass(frozen=True)
class Beginning:
    """The run that a tracker is to show.

    Attributes:
        folder: The run folder; a tracker that keeps files keeps them here.
        id: The run's name for the tracker; the same whenever the folder is gone on with.
        config: The resolved spec as plain data.
    """

    folder: Path
    id: str
    config: Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A table; every row has a text, a number or ``None`` for each of ``columns``."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | Number, ...], ...]


@dataclass(frozen=True)
class Aggregates:
    """What a judged run came to.

    Attributes:
        values: Slash-separated name -> number, as in ``metrics.json``.
        tables: Slash-separated name -> table of the same.
        report: Where the report is.
    """

    values: Mapping[str, Number]
    tables: Mapping[str, Table] = field(default_factory=dict)
    report: str = ""


class Tracker(Protocol):
    """Shows a run elsewhere. No call waits for a network but ``finish``, and none raises."""

    def begin(self, beginning: Beginning) -> None:
        """Show the run, or go on showing it. Called once, before the others."""

    def log(self, step: int, values: Mapping[str, Number]) -> None:
        """Add ``values`` to the history at ``step``, which only grows."""

    def finish(self, step: int, aggregates: Aggregates | None) -> None:
        """Add what the run came to, if it is known, and wait a bounded time until all is sent."""

    def close(self) -> None:
        """Give up at once what ``finish`` did not end; does nothing after it."""
