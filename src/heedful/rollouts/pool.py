"""Worker processes, one thread each: work handed out, results collected, the lost replaced."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from heedful.rollouts.queues import AffinityQueues
from heedful.rollouts.site import Gone, Message, Site, Worker
from heedful.rollouts.workers import LocalSite, ended, terminable
from heedful.spec.errors import UserError
from heedful.spec.progress import Progress, silent

T = TypeVar("T")
R = TypeVar("R")

_FAILED_STARTS = 3
_MOST_TRIES = 10
"""An item is given up after so many, whoever was to blame."""


@dataclass(frozen=True)
class Done(Generic[R]):
    """Item ``index`` gave ``value``, at the ``attempts``-th attempt."""

    index: int
    value: R
    attempts: int = 1


@dataclass(frozen=True)
class Lost:
    """Item ``index`` has no result: its workers died or were killed at a limit, ``attempts`` times."""

    index: int
    reason: str
    attempts: int


class WorkerFailed(Exception):
    """The function raised in a worker; the message ends with the worker's traceback."""


@dataclass(frozen=True)
class Pool:
    """Worker processes.

    Attributes:
        workers: How many processes; results do not depend on it.
        time_limit_s: A worker that is busy with one item for longer is killed. ``None``: no limit.
        retries: How often an item is tried again after its worker died or was killed; where that was
            surely another item's fault, it does not count.
        site: Where the processes live; this machine, if nothing is said.
        together: All workers take items of one kind before those of the next; otherwise each kind goes
            mostly to a worker of its own.
    """

    workers: int = 2
    time_limit_s: float | None = None
    retries: int = 1
    site: Site = field(default_factory=LocalSite)
    together: bool = False

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
            affinity: Items with an equal key go mostly to the same worker, see ``together``.
        """
        with self.crew(function) as crew:
            yield from crew.unordered(items, affinity)

    @contextmanager
    def crew(self, function: Callable[[T], R]) -> Iterator[Crew[T, R]]:
        """Give workers that keep what ``function`` has loaded through several rounds of work."""
        team: list[Worker] = []
        with ended(team), terminable():
            yield Crew(self, pickle.dumps(function), team)
            for worker in team:
                worker.dismiss()


@dataclass
class Crew(Generic[T, R]):
    """The workers of ``Pool.crew``; they are started as there is work for them."""

    pool: Pool
    function: bytes
    team: list[Worker]

    def unordered(
        self, items: Sequence[T], affinity: Callable[[T], str] | None = None
    ) -> Generator[Done[R] | Lost, None, None]:
        """Yield the result of every item as soon as it is there. See ``Pool.unordered``."""
        pool, team = self.pool, self.team
        work = _Work([affinity(item) if affinity and not pool.together else "" for item in items])
        failed_starts = 0
        try:
            while work.left:
                while len(team) < min(pool.workers, work.left):
                    team.append(pool.site.start(self.function, pool.time_limit_s))
                for worker in team:
                    if worker.ready and worker.index is None and work.queues:
                        index = work.take(worker, team)
                        worker.give(index, work.keys[index], pickle.dumps(items[index]))
                for worker, said in pool.site.messages(team):
                    message = _of(worker, said)
                    if isinstance(message, Gone):
                        team.remove(worker)
                        worker.kill()
                        if not worker.ready:
                            failed_starts += message.blamed
                            if failed_starts == _FAILED_STARTS:
                                raise UserError(_dies_at_start(message))
                        elif worker.index is not None:
                            lost = work.lost(worker.index, message, pool.retries)
                            if lost is not None:
                                yield lost
                    elif message[0] == "ready":
                        worker.ready, failed_starts = True, 0
                    elif message[0] == "done":
                        worker.index = None
                        yield work.done(message[1], message[2])
                    elif message[2]:
                        raise UserError(message[3])
                    else:
                        raise WorkerFailed(message[3])
        finally:
            for worker in [worker for worker in team if worker.index is not None]:
                team.remove(worker)  # left early: nobody waits for what these are busy with
                worker.kill()


class _Work:
    """What of a round is waiting, how often each item was tried, and how many have no result yet."""

    def __init__(self, keys: list[str]) -> None:
        self.keys = keys
        self.queues = AffinityQueues(keys)
        self.left = len(keys)
        self._tries = [0] * len(keys)
        self._blamed = [0] * len(keys)

    def take(self, worker: Worker, team: Sequence[Worker]) -> int:
        others = {other.key for other in team if other is not worker and other.key is not None}
        index = self.queues.take(worker.key, others)
        self._tries[index] += 1
        return index

    def done(self, index: int, value: Any) -> Done[Any]:
        self.left -= 1
        return Done(index, value, self._tries[index])

    def lost(self, index: int, gone: Gone, retries: int) -> Lost | None:
        """Queue item ``index`` again, or give it up."""
        self._blamed[index] += gone.blamed
        self._tries[index] -= not gone.begun
        if self._blamed[index] <= retries and self._tries[index] < _MOST_TRIES:
            self.queues.put_back(index)
            return None
        self.left -= 1
        times = self._tries[index]
        return Lost(index, f"{gone.reason}; tried {times} times" if times > 1 else gone.reason, times)


def _of(worker: Worker, message: Message) -> Message:
    """Return ``message``, or Gone where it answers what ``worker`` was not asked."""
    if isinstance(message, Gone) or message[0] == "ready" or message[1] in (worker.index, -1):
        return message
    return Gone(f"its worker process answered for another item ({message[1]})")


def _dies_at_start(gone: Gone) -> str:
    """Return the line for workers that never come to work."""
    return (
        f"The worker processes die as they start ({gone.reason}; see the lines above). "
        'A script that starts a run needs `if __name__ == "__main__":` around it.'
    )
