"""Worker processes of this machine: started, given items, listened to, ended."""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection
from multiprocessing.context import SpawnProcess
from types import FrameType

from heedful.rollouts import worker_process
from heedful.rollouts.failures import one_line
from heedful.rollouts.site import Gone, Message, Worker
from heedful.rollouts.watch import Watch

_START_LIMIT_S = 300.0
_LOOK_S = 0.5
"""How often the driver looks at its workers' deadlines, at least."""

_context = multiprocessing.get_context("spawn")


class LocalWorker:
    """A process, the item it is busy with, and the watch that says when it is overdue."""

    def __init__(
        self, function: bytes, time_limit_s: float | None, host: connection.Connection | None = None
    ) -> None:
        """Start the process.

        Args:
            function: As for ``Site.start``.
            time_limit_s: As for ``Site.start``.
            host: The worker's end of a pipe to the process that holds the policies, if there is one.
        """
        self.pipe, theirs = _context.Pipe()
        self.watch = Watch()
        with one_thread():
            self.process = _context.Process(
                target=worker_process.main,
                args=(theirs, function, self.watch, time_limit_s, host),
                daemon=True,
                name="heedful-worker",
            )
            self.process.start()
        theirs.close()
        self.ready = False
        self.index: int | None = None
        self.key: str | None = None
        self._starts_until = time.monotonic() + _START_LIMIT_S

    @property
    def deadline(self) -> float:
        """When it is overdue, by ``time.monotonic``."""
        return self.watch.deadline if self.ready else self._starts_until

    def give(self, index: int, key: str, item: bytes) -> None:
        """Send an item. A process that is already dead shows when its messages are read."""
        self.index, self.key = index, key
        with suppress(OSError):
            self.pipe.send_bytes(pickle.dumps((index, item)))

    def kill(self) -> None:
        """End the process and those it started."""
        kill_group(self.process)
        self.pipe.close()

    def dismiss(self) -> None:
        """Let an idle worker close what it has open; kill it if it does not end soon."""
        with suppress(OSError):  # it may be dead already
            self.pipe.send_bytes(pickle.dumps(None))
        self.process.join(5)

    def speaks(self) -> bool:
        """Return whether there is something to read."""
        try:
            return self.pipe.poll()
        except OSError:
            return False

    def read(self) -> Message:
        """Return what the process says, or that it died; one that cannot be understood is ended."""
        try:
            data = self.pipe.recv_bytes()
        except (EOFError, OSError):
            return self.end(overdue=False)
        try:
            message: Message = pickle.loads(data)
        except Exception as error:
            self.kill()
            return Gone(f"the answer of its worker process cannot be read ({one_line(error)})")
        return message

    def end(self, overdue: bool) -> Gone:
        """Kill a worker that died or is overdue, and say what became of it."""
        self.kill()
        if overdue:
            started = "killed: it did not start" if not self.ready else self.watch.reason()
            return Gone(started)
        code = self.process.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return Gone(f"its worker process died ({how})")


class LocalSite:
    """Worker processes of the driver's own machine."""

    def start(self, function: bytes, time_limit_s: float | None) -> LocalWorker:
        """Start a process."""
        return LocalWorker(function, time_limit_s)

    def messages(self, team: Sequence[Worker]) -> list[tuple[Worker, Message]]:
        """Wait until a worker says something, dies or is overdue, or for half a second."""
        ours = [worker for worker in team if isinstance(worker, LocalWorker)]
        found: list[tuple[Worker, Message]] = list(heard(ours))
        return found + [(worker, worker.end(overdue=True)) for worker in overdue(ours, found)]


def heard(
    team: Sequence[LocalWorker], others: Sequence[int] = (), until: float = math.inf
) -> list[tuple[LocalWorker, Message]]:
    """Return what workers say, or that they died; wait for it for half a second, or until one is overdue.

    Args:
        team: The workers.
        others: Descriptors that end the waiting, too, once they can be read.
        until: So long at most, by ``time.monotonic``.
    """
    wait_s = min([until, *(worker.deadline for worker in team)]) - time.monotonic()
    pipes = [worker.pipe for worker in team]
    speaking = connection.wait([*pipes, *others], timeout=min(max(wait_s, 0), _LOOK_S))
    found: list[tuple[LocalWorker, Message]] = []
    for worker in team:
        # A process that has ended may leave copies of itself behind, which hold its pipe open.
        if worker.pipe in speaking or (worker.process.exitcode is not None and worker.speaks()):
            found.append((worker, worker.read()))
        elif worker.process.exitcode is not None:
            found.append((worker, worker.end(overdue=False)))
    return found


def overdue(team: Sequence[LocalWorker], found: Sequence[tuple[Worker, Message]]) -> list[LocalWorker]:
    """Return the workers that are overdue and did not even now say something."""
    spoke = [worker for worker, _ in found]
    now = time.monotonic()
    return [worker for worker in team if worker not in spoke and worker.deadline <= now]


def kill_group(process: SpawnProcess) -> None:
    """End ``process`` and what it started, at once; does nothing to one that has ended."""
    with suppress(OSError):  # what a policy started is in its group; perhaps there is none
        if process.pid is not None:
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()


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
def one_thread(unless_said: bool = False) -> Iterator[None]:
    """Set the thread counts that a child reads when its libraries load.

    Args:
        unless_said: Leave a count alone that the environment gives.
    """
    before = {name: os.environ.get(name) for name in worker_process.THREAD_VARIABLES}
    os.environ.update({name: "1" for name, said in before.items() if said is None or not unless_said})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
