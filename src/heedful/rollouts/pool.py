"""Worker processes, one thread each: work handed out, results collected, the lost replaced."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection
from types import FrameType
from typing import Any, Generic, TypeVar

from heedful.rollouts import worker_process
from heedful.rollouts.queues import AffinityQueues
from heedful.spec.errors import UserError
from heedful.spec.progress import Progress, silent

T = TypeVar("T")
R = TypeVar("R")

_FAILED_STARTS = 3
_START_LIMIT_S = 300.0
_context = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Done(Generic[R]):
    """Item ``index`` gave ``value``."""

    index: int
    value: R


@dataclass(frozen=True)
class Lost:
    """Item ``index`` has no result: its worker died (again) or was killed at the time limit."""

    index: int
    reason: str


class WorkerFailed(Exception):
    """The function raised in a worker; the message ends with the worker's traceback."""


@dataclass(frozen=True)
class Pool:
    """Local worker processes.

    Attributes:
        workers: How many processes; results do not depend on it.
        time_limit_s: A worker that is busy with one item for longer is killed, and the
            item is lost. ``None``: no limit.
        retries: How often an item is tried again after its worker died.
    """

    workers: int = 2
    time_limit_s: float | None = None
    retries: int = 1

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise UserError(f"The number of workers is {self.workers}; it must be at least 1.")

    def map(
        self, function: Callable[[T], R], items: Sequence[T], progress: Progress = silent, stage: str = "work"
    ) -> list[R]:
        """Return ``[function(item) for item in items]``, computed in the workers.

        Args:
            function: Picklable; unpickled once in every worker, so it may keep things loaded.
                Its ``close()``, if it has one, is called at the end.
            items: Picklable.
            progress: Told after every item.
            stage: What to call the work there.

        Raises:
            UserError: The function raised one, or an item was lost.
            WorkerFailed: The function raised something else.
        """
        values: dict[int, R] = {}
        progress(stage, 0, len(items))
        with closing(self.unordered(function, items)) as results:
            for result in results:
                if isinstance(result, Lost):
                    raise UserError(f"{stage}: item {result.index + 1} of {len(items)}: {result.reason}.")
                values[result.index] = result.value
                progress(stage, len(values), len(items))
        return [values[i] for i in range(len(items))]

    def unordered(
        self, function: Callable[[T], R], items: Sequence[T], affinity: Callable[[T], str] | None = None
    ) -> Generator[Done[R] | Lost, None, None]:
        """Yield the result of every item as soon as it is there. See ``map``.

        Close the iterator (``contextlib.closing``) to end the workers early; an exception,
        Ctrl-C or SIGTERM ends them at once.

        Args:
            function: As in ``map``.
            items: As in ``map``.
            affinity: Items with an equal key go mostly to the same worker.
        """
        keys = [affinity(item) if affinity else "" for item in items]
        queues = AffinityQueues(keys)
        packed = pickle.dumps(function)
        tries = [0] * len(items)
        failed_starts = 0
        left = len(items)
        team: list[_Worker] = []
        with _ended(team), _terminable():
            while left:
                while len(team) < min(self.workers, left):
                    team.append(_Worker(packed))
                for worker in team:
                    if worker.ready and worker.index is None and queues:
                        others = {w.key for w in team if w is not worker and w.key is not None}
                        index = queues.take(worker.key, others)
                        tries[index] += 1
                        worker.give(index, keys[index], pickle.dumps(items[index]), self.time_limit_s)
                for worker, message in _messages(team):
                    if isinstance(message, _Gone):
                        team.remove(worker)
                        worker.kill()
                        if not worker.ready:
                            failed_starts += 1
                            if failed_starts == _FAILED_STARTS:
                                raise UserError(_dies_at_start(worker.process.exitcode))
                        elif worker.index is None:
                            continue
                        elif not message.overdue and tries[worker.index] <= self.retries:
                            queues.put_back(worker.index)
                        else:
                            left -= 1
                            yield Lost(worker.index, self._reason(message, worker.process.exitcode))
                    elif message[0] == "ready":
                        worker.ready, worker.deadline, failed_starts = True, float("inf"), 0
                    elif message[0] == "done":
                        worker.index, worker.deadline = None, float("inf")
                        left -= 1
                        yield Done(message[1], message[2])
                    elif message[2]:
                        raise UserError(message[3])
                    else:
                        raise WorkerFailed(message[3])
            for worker in team:
                worker.dismiss()

    def _reason(self, gone: _Gone, exit_code: int | None) -> str:
        if gone.overdue:
            return f"hung: killed after {self.time_limit_s:g} s"
        how = f"signal {-exit_code}" if exit_code is not None and exit_code < 0 else f"exit code {exit_code}"
        return f"its worker process died ({how}) {self.retries + 1} times"


class _Worker:
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
class _Gone:
    """In place of a message: the worker died, or is overdue and must be killed."""

    overdue: bool


def _messages(team: Sequence[_Worker]) -> list[tuple[_Worker, _Gone | tuple[Any, ...]]]:
    """Wait until a worker says something, dies or is overdue."""
    wait_s = max(min(worker.deadline for worker in team) - time.monotonic(), 0)
    pipes = {worker.pipe: worker for worker in team}
    # An hour at most: waiting without end would not survive a jump of the clock.
    speaking = connection.wait(list(pipes), timeout=min(wait_s, 3600))
    found: list[tuple[_Worker, _Gone | tuple[Any, ...]]] = []
    for worker in team:
        if worker.pipe in speaking:
            try:
                found.append((worker, pickle.loads(worker.pipe.recv_bytes())))
            except (EOFError, OSError):
                found.append((worker, _Gone(overdue=False)))
        elif worker.deadline <= time.monotonic():
            found.append((worker, _Gone(overdue=True)))
    return found


def _dies_at_start(exit_code: int | None) -> str:
    return (
        f"The worker processes die as they start (exit code {exit_code}; see the lines above). "
        'A script that starts a run needs `if __name__ == "__main__":` around it.'
    )


@contextmanager
def _ended(team: list[_Worker]) -> Iterator[None]:
    """Kill whoever of ``team`` is alive at the end, however it comes."""
    try:
        yield
    finally:
        for worker in team:
            worker.kill()


@contextmanager
def _terminable() -> Iterator[None]:
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
