"""Worker processes seen from the driver: started, given items, listened to, ended."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection
from types import FrameType
from typing import Any

from heedful.rollouts import worker_process

_START_LIMIT_S = 300.0
_context = multiprocessing.get_context("spawn")


class Worker:
    """A process, the item it is busy with, and when that is overdue."""

    def __init__(self, function: bytes) -> None:
        self.pipe, theirs = _context.Pipe()
        with _one_thread():
            self.process = _context.Process(
                target=worker_process.main, args=(theirs, function), daemon=True, name="heedful-worker"
            )
            self.process.start()
        theirs.close()
        self.ready = False
        self.index: int | None = None
        self.key: str | None = None
        self.deadline = time.monotonic() + _START_LIMIT_S

    def give(self, index: int, key: str, item: bytes, time_limit_s: float | None) -> None:
        """Send an item. A process that is already dead shows when its messages are read."""
        self.index, self.key = index, key
        self.deadline = time.monotonic() + time_limit_s if time_limit_s else float("inf")
        with suppress(OSError):
            self.pipe.send_bytes(pickle.dumps((index, item)))

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def dismiss(self) -> None:
        """Let an idle worker close what it has open; kill it if it does not end soon."""
        with suppress(OSError):  # it may be dead already
            self.pipe.send_bytes(pickle.dumps(None))
        self.process.join(5)


@dataclass(frozen=True)
class Gone:
    """In place of a message: the worker died, or is overdue and must be killed."""

    overdue: bool


def messages(team: Sequence[Worker]) -> list[tuple[Worker, Gone | tuple[Any, ...]]]:
    """Wait until a worker says something, dies or is overdue."""
    wait_s = max(min(worker.deadline for worker in team) - time.monotonic(), 0)
    pipes = {worker.pipe: worker for worker in team}
    # An hour at most: waiting without end would not survive a jump of the clock.
    speaking = connection.wait(list(pipes), timeout=min(wait_s, 3600))
    found: list[tuple[Worker, Gone | tuple[Any, ...]]] = []
    for worker in team:
        if worker.pipe in speaking:
            try:
                found.append((worker, pickle.loads(worker.pipe.recv_bytes())))
            except (EOFError, OSError):
                found.append((worker, Gone(overdue=False)))
        elif worker.deadline <= time.monotonic():
            found.append((worker, Gone(overdue=True)))
    return found


def dies_at_start(exit_code: int | None) -> str:
    """Return the line for workers that never come to work."""
    return (
        f"The worker processes die as they start (exit code {exit_code}; see the lines above). "
        'A script that starts a run needs `if __name__ == "__main__":` around it.'
    )


@contextmanager
def ended(team: list[Worker]) -> Iterator[None]:
    """Kill whoever of ``team`` is alive at the end, however it comes."""
    try:
        yield
    finally:
        for worker in team:
            worker.kill()


@contextmanager
def terminable() -> Iterator[None]:
    """Make SIGTERM end this process as an exception does, so that nothing is left running."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Set the thread counts that a child reads when its libraries load."""
    before = {name: os.environ.get(name) for name in worker_process.THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(worker_process.THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
