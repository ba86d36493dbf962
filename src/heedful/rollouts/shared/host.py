"""The process that holds the policies, seen from the driver: started, watched, ended."""

from __future__ import annotations

import multiprocessing
import time
from contextlib import suppress
from multiprocessing import connection, reduction

from heedful.rollouts.shared import host_process
from heedful.rollouts.shared.serving import Serving
from heedful.rollouts.watch import Limits, Watch
from heedful.rollouts.workers import kill_group, one_thread

_START_LIMIT_S = 300.0
_END_S = 5.0

_context = multiprocessing.get_context("spawn")


class Host:
    """One such process; when it has died or is overdue, the next one is another ``Host``."""

    def __init__(self, workers: int, limits: Limits) -> None:
        """Start the process, for at most ``workers`` workers at a time."""
        self.control, theirs = _context.Pipe()
        self._watch, self._serving = Watch(), Serving(workers)
        self.process = _context.Process(
            target=host_process.main,
            args=(theirs, self._watch, self._serving, limits),
            daemon=True,
            name="heedful-policies",
        )
        with one_thread(unless_said=True):  # torch with more, beside busy workers, is many times slower
            self.process.start()
        theirs.close()
        self._started = False
        self._starts_until = time.monotonic() + _START_LIMIT_S

    @property
    def deadline(self) -> float:
        """When it is overdue, by ``time.monotonic``."""
        return self._watch.deadline if self.started else self._starts_until

    @property
    def started(self) -> bool:
        """Whether it has ever been at work."""
        with suppress(EOFError, OSError):
            if not self._started and self.control.poll():
                self._started = self.control.recv() == "ready"
        return self._started

    def serving(self) -> set[int]:
        """Return the process numbers of the workers that it is answering."""
        return self._serving.now()

    def introduce(self, pid: int, pipe: connection.Connection) -> None:
        """Let it answer the worker ``pid`` through ``pipe``, of which this process keeps no copy."""
        with suppress(OSError):  # it has died, which shows when its messages are awaited
            self.control.send(pid)
            reduction.send_handle(self.control, pipe.fileno(), self.process.pid or 0)
        pipe.close()

    def trouble(self) -> str:
        """Return what is wrong with it, fit for "it was"; empty while nothing is."""
        if not self.process.is_alive():
            code = self.process.exitcode or 0
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            return f"the process that holds the policies died ({how})"
        if self.deadline <= time.monotonic():
            return self._watch.reason() if self.started else "killed: it did not start"
        return ""

    def kill(self) -> None:
        """End it, and what it started, at once; may be called twice."""
        kill_group(self.process)
        self.control.close()

    def dismiss(self) -> None:
        """Let it end by itself, for a few seconds at most."""
        with suppress(OSError):
            self.control.send(None)
        self.process.join(_END_S)
