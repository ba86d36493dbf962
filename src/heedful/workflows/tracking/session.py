"""A run shown in a tracker: who it is there, how often it is told, and at which step."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from heedful.spec.codec import to_json
from heedful.spec.errors import UserError
from heedful.spec.rollout import EpisodeRow
from heedful.store.process_lock import ProcessLock
from heedful.store.run_folder import RunFolder
from heedful.store.tracking_file import Tracked, read_tracked, write_tracked
from heedful.workflows.tracking.aggregates import aggregates
from heedful.workflows.tracking.choice import make_tracker
from heedful.workflows.tracking.progress import EpisodeCounts
from heedful.workflows.tracking.seam import Aggregates, Beginning, Tracker

EVERY_S = 10.0
"""Seconds between two entries of the history while episodes run."""


class Tracking:
    """One run, mirrored to one tracker; see ``tracking``.

    The run's id there is drawn once and kept in the run folder. It is not derived from spec and
    path: a folder that is moved stays the same run, and one that is deleted and made again is
    another. Steps are episodes done; where fewer are done than before (crashed ones run again)
    or a report adds its measures, they go on by one, because trackers drop a step that goes back.
    """

    def __init__(
        self,
        name: str,
        tracker: Tracker,
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Use ``tracking``."""
        self._name, self._tracker, self._tell, self._clock = name, tracker, tell, clock
        self._lock: ProcessLock | None = None
        self._folder: Path | None = None
        self._known = Tracked("")
        self._begun = self._step_is_lost = False
        self._counts: EpisodeCounts | None = None
        self._logged_at = 0.0
        self._unlogged = False
        self._aggregates: Aggregates | None = None

    def claim(self, folder: Path) -> None:
        """Refuse now what would refuse ``begin``, before hours of work; only the first call counts.

        Args:
            folder: The run folder, which is there.

        Raises:
            UserError: ``tracking.json`` is damaged or cannot be written, or another process mirrors this run.
        """
        if self._folder is not None:
            return
        self._lock = ProcessLock(folder, ".tracking.lock")
        known = read_tracked(folder, self._name)
        if known is None:
            known = Tracked(secrets.token_hex(8))
            write_tracked(folder, self._name, known)
        self._folder, self._known = folder, known

    def begin(self, folder: RunFolder) -> None:
        """Show the run in ``folder``, or go on showing it; only the first call counts.

        Raises:
            UserError: See ``claim``.
        """
        self.claim(folder.path)
        if not self._begun:
            self._begun = True
            self._tracker.begin(Beginning(folder.path, self._known.id, to_json(folder.spec)))

    def episodes(
        self, folder: RunFolder, rows: Sequence[EpisodeRow], total: int
    ) -> Callable[[EpisodeRow], None]:
        """Return what to call with every episode's row once it is on disk.

        Args:
            folder: The run folder.
            rows: Rows that are there already.
            total: Episodes that the run consists of.
        """
        self.begin(folder)
        self._counts = EpisodeCounts((entry.name for entry in folder.spec.policies), rows, total)
        self._logged_at = self._clock() - EVERY_S  # the first one is told at once
        return self._row

    def _row(self, row: EpisodeRow) -> None:
        assert self._counts is not None
        self._counts.add(row)
        self._unlogged = True
        if self._clock() - self._logged_at >= EVERY_S:
            self._log()

    def _log(self) -> None:
        assert self._counts is not None
        self._unlogged = False
        self._logged_at = self._clock()
        self._tracker.log(self._next_step(self._counts.done), self._counts.values())

    def _next_step(self, wanted: int = 0) -> int:
        """Return the next step, from ``wanted`` on; noted first, so that no kill makes it come twice."""
        assert self._folder is not None
        self._known = replace(self._known, step=max(wanted, self._known.step + 1))
        try:
            write_tracked(self._folder, self._name, self._known)
        except UserError as error:  # a run is never ended by its mirror
            if not self._step_is_lost:
                self._step_is_lost = True
                self._tell(f"warning: {self._name}: the step is not kept: {error}")
        return self._known.step

    def measured(self, folder: RunFolder, metrics: Mapping[str, Any]) -> None:
        """Take the measures of a judged run that has a report; they are sent at the end."""
        self.begin(folder)
        self._aggregates = aggregates(folder.spec.suite, metrics, str(folder.report_path))

    def finish(self) -> None:
        """Send what is left."""
        if self._begun:
            if self._unlogged:
                self._log()
            step = self._next_step() if self._aggregates else self._known.step
            self._tracker.finish(step, self._aggregates)
        self.close()

    def close(self) -> None:
        """Give up what ``finish`` did not send."""
        self._tracker.close()
        if self._lock is not None:
            self._lock.release()


@contextmanager
def tracking(name: str | None, tell: Callable[[str], None]) -> Iterator[Tracking | None]:
    """Yield what mirrors a run to the tracker ``name``, or ``None`` without a name.

    Nothing is imported, started or written without a name, and nothing is sent before a run begins.

    Args:
        name: One of ``choice.TRACKERS``, or ``None``.
        tell: Told in one line what goes wrong later, which never ends the run.

    Raises:
        UserError: An unknown name, a package that is not installed, or no login.
    """
    if name is None:
        yield None
        return
    session = Tracking(name, make_tracker(name, tell), tell)
    try:
        yield session
        session.finish()
    finally:
        session.close()
