"""Workers of this machine that ask one process for actions, and what becomes of them when it ends."""

from __future__ import annotations

import multiprocessing
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from heedful.rollouts.pool import Pool
from heedful.rollouts.shared.host import Host
from heedful.rollouts.site import Gone, Message, Worker
from heedful.rollouts.watch import LIMITS, Limits
from heedful.rollouts.workers import LocalWorker, heard, overdue
from heedful.spec.errors import UserError

_FAILED_STARTS = 3
_ASKING = ("policy.", "loading policy")
"""How the words begin for what a worker does while it waits for an answer."""

_context = multiprocessing.get_context("spawn")


@contextmanager
def shared_pool(workers: int = 2, limits: Limits = LIMITS) -> Iterator[Pool]:
    """Give a pool whose workers share policies, which another process holds.

    What hangs or dies there is found out, as in a worker. Every worker is then replaced and the episodes
    under way are tried again, from then on one at a time, since each of them may have been the cause;
    so no episode is given up for what another has done.

    Args:
        workers: As for ``Pool``.
        limits: ``call_s`` is for one call of a policy, which may be for several workers.
    """
    pool = Pool(workers, together=True)  # refuses a number that cannot be before anything is started
    site = SharedSite(workers, limits)
    try:
        yield Pool(workers, pool.time_limit_s, pool.retries, site, together=True)
        site.host.dismiss()
    finally:
        site.host.kill()


class SharedWorker(LocalWorker):
    """A worker with a pipe to the process that holds the policies."""

    def __init__(self, function: bytes, time_limit_s: float | None, site: SharedSite) -> None:
        ours, theirs = _context.Pipe()
        super().__init__(function, time_limit_s, theirs)
        theirs.close()
        self._waiting: bytes | None = None
        site.host.introduce(self.pid, ours)

    @property
    def pid(self) -> int:
        """Its process number."""
        return self.process.pid or 0

    @property
    def asking(self) -> bool:
        """Whether it waits for the answer of a policy."""
        return self.watch.doing.startswith(_ASKING)

    @property
    def waits(self) -> bool:
        """Whether its item is still to be sent to it."""
        return self._waiting is not None

    def give(self, index: int, key: str, item: bytes) -> None:
        """Take an item; the site sends it when it may be run beside what the others run."""
        self.index, self.key, self._waiting = index, key, item

    def begin(self) -> None:
        """Send the item."""
        item, self._waiting = self._waiting, None
        if item is not None and self.index is not None and self.key is not None:
            super().give(self.index, self.key, item)


class SharedSite:
    """Worker processes of the driver's own machine, and the process that holds their policies.

    Attributes:
        host: That process.
        suspects: Items that may have killed one; while such an item is run, no other is.
    """

    def __init__(self, workers: int, limits: Limits) -> None:
        self._start = workers, limits
        self.host = Host(workers, limits)
        self.suspects: set[int] = set()
        self._failed_starts = 0

    def start(self, function: bytes, time_limit_s: float | None) -> SharedWorker:
        """Start a worker."""
        return SharedWorker(function, time_limit_s, self)

    def messages(self, team: Sequence[Worker]) -> list[tuple[Worker, Message]]:
        """Wait until somebody says something, dies or is overdue, or for half a second."""
        ours = [worker for worker in team if isinstance(worker, SharedWorker)]
        for worker in may_begin(ours, self.suspects):
            worker.begin()
        sentinels = [self.host.process.sentinel]
        found: list[tuple[Worker, Message]] = list(heard(ours, sentinels, self.host.deadline))
        late = [worker for worker in overdue(ours, found) if isinstance(worker, SharedWorker)]
        # Asking, but not being answered: the host hangs, or is too slow for so many workers.
        in_vain = [worker for worker in late if worker.asking and worker.pid not in self.host.serving()]
        reason = self.host.trouble()
        if not reason and not in_vain:
            return found + [(worker, worker.end(overdue=True)) for worker in late]
        if not reason:
            reason = in_vain[0].watch.reason()
        at_fault = self._at_fault(ours, {worker.pid for worker in in_vain})
        self._replace_host()
        gone = [worker for worker, message in found if isinstance(message, Gone)]
        for worker in ours:
            if worker not in gone:  # whoever has just spoken, too: nobody would answer it any more
                worker.kill()
                gone_too = Gone(reason, blamed=worker.pid in at_fault, begun=not worker.waits)
                found.append((worker, gone_too))
        return found

    def _at_fault(self, team: Sequence[SharedWorker], in_vain: set[int]) -> set[int]:
        """Return the workers whose items may be what ended the host; all items under way are suspects now.

        Those in the call, if there was one (a worker that has been ended since is blamed already); else
        those that asked in vain; else the only one that ran anything, if it was only one. Nobody if the
        host never came to work.
        """
        if not self.host.started:
            return set()
        busy = {worker.pid: worker.index for worker in team if worker.index is not None and not worker.waits}
        self.suspects |= {index for index in busy.values() if index is not None}
        return self.host.serving() or in_vain or (set(busy) if len(busy) == 1 else set())

    def _replace_host(self) -> None:
        self._failed_starts = 0 if self.host.started else self._failed_starts + 1
        self.host.kill()
        if self._failed_starts == _FAILED_STARTS:
            raise UserError(
                "The process that holds the policies dies as it starts (see the lines above). "
                'A script that starts a run needs `if __name__ == "__main__":` around it.'
            )
        self.host = Host(*self._start)


def may_begin(team: Sequence[SharedWorker], suspects: Collection[int]) -> list[SharedWorker]:
    """Return the workers of ``team`` whose waiting items may be run now: a suspect only by itself."""
    running = [worker for worker in team if worker.index is not None and not worker.waits]
    waiting = [worker for worker in team if worker.index is not None and worker.waits]
    doubtful = [worker for worker in waiting if worker.index in suspects]
    if any(worker.index in suspects for worker in running) or (doubtful and running):
        return []
    return doubtful[:1] or waiting
