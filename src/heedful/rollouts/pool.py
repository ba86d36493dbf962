"""Worker processes, one thread each: work handed out, results collected, the lost replaced."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Generic, TypeVar

from heedful.rollouts.queues import AffinityQueues
from heedful.rollouts.workers import Gone, Worker, dies_at_start, ended, messages, terminable
from heedful.spec.errors import UserError
from heedful.spec.progress import Progress, silent

T = TypeVar("T")
R = TypeVar("R")

_FAILED_STARTS = 3


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
        team: list[Worker] = []
        with ended(team), terminable():
            while left:
                while len(team) < min(self.workers, left):
                    team.append(Worker(packed))
                for worker in team:
                    if worker.ready and worker.index is None and queues:
                        others = {w.key for w in team if w is not worker and w.key is not None}
                        index = queues.take(worker.key, others)
                        tries[index] += 1
                        worker.give(index, keys[index], pickle.dumps(items[index]), self.time_limit_s)
                for worker, message in messages(team):
                    if isinstance(message, Gone):
                        team.remove(worker)
                        worker.kill()
                        if not worker.ready:
                            failed_starts += 1
                            if failed_starts == _FAILED_STARTS:
                                raise UserError(dies_at_start(worker.process.exitcode))
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

    def _reason(self, gone: Gone, exit_code: int | None) -> str:
        if gone.overdue:
            return f"hung: killed after {self.time_limit_s:g} s"
        how = f"signal {-exit_code}" if exit_code is not None and exit_code < 0 else f"exit code {exit_code}"
        return f"its worker process died ({how}) {self.retries + 1} times"
