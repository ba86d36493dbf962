"""Progress on standard error: bars on a terminal, plain lines otherwise."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from heedful.spec.progress import Progress


@contextmanager
def progress(stream: TextIO | None = None) -> Iterator[Progress]:
    """Yield what long work reports to, fit for ``stream`` (standard error by default)."""
    stream = stream or sys.stderr
    if not stream.isatty():
        yield PlainLines(stream)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Display

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Display(*columns, console=Console(file=stream)) as display:
        tasks: dict[str, int] = {}

        def bars(stage: str, done: int, total: int, note: str = "") -> None:
            if stage not in tasks:
                # Work that an earlier run finished must not count as speed.
                tasks[stage] = display.add_task(stage, total=total, completed=done, note=note)
            display.update(display.task_ids[tasks[stage]], completed=done, total=total, note=note)

        yield bars


class PlainLines:
    """One line when a stage begins, at every tenth of it, and when it ends."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._tenths: dict[str, int] = {}

    def __call__(self, stage: str, done: int, total: int, note: str = "") -> None:
        """Print a line if another tenth of ``stage`` is finished, or it begins again."""
        tenth = 10 * done // total if total else 10
        if tenth != self._tenths.get(stage):  # lower: the same kind of work has begun again
            self._tenths[stage] = tenth
            print(f"{stage}: {done}/{total}{f'  {note}' if note else ''}", file=self._stream, flush=True)
