"""The pool on a Ray cluster: every worker is watched over by an actor on its own node.

The actor starts one worker process beside it, as the pool of a single machine does, with the same
limits; so a policy that hangs is killed there, and a node that is lost costs what ran on it a retry.
Items and results travel through Ray. Files do not: every node needs the run folder, and the folder
that the command was started in, under the same path, on a disk that all of them share.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from heedful.rollouts.pool import Pool
from heedful.rollouts.site import Gone, Message, Worker
from heedful.rollouts.workers import LocalSite, LocalWorker
from heedful.spec.errors import UserError

LOCAL = "local"
"""In place of an address: a cluster of this machine alone, started for the job and ended with it."""

_START_LIMIT_S = 300.0
_LOOK_S = 1.0
_REACH_S = 10.0


@contextmanager
def ray_pool(address: str, workers: int = 2) -> Iterator[Pool]:
    """Give a pool whose workers live on the nodes of a Ray cluster.

    Args:
        address: Of the cluster, ``auto`` for the one this machine belongs to, or ``local``.
        workers: Processes at most; each takes one CPU of the cluster.

    Raises:
        UserError: Ray is not installed, or there is no such cluster.
    """
    try:
        import ray
    except ModuleNotFoundError as error:
        raise UserError("Ray is not installed: pip install 'heedful[ray]'.") from error
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    pool = Pool(workers)  # refuses a number that cannot be before anything is started
    ours = not ray.is_initialized()
    if ours:
        where: dict[str, Any] = (
            {"num_cpus": workers, "include_dashboard": False} if address == LOCAL else {"address": address}
        )
        try:
            _answers(address)
            ray.init(log_to_driver=False, logging_level="ERROR", **where)
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            raise UserError(f"There is no Ray cluster at {address!r} to join: {_last_line(error)}") from error
    try:
        cpus = int(ray.cluster_resources().get("CPU", 1))
        yield Pool(max(min(workers, cpus), 1), pool.time_limit_s, pool.retries, RaySite(ray))
    finally:
        if ours:
            ray.shutdown()


def _answers(address: str) -> None:
    """Raise an OSError unless something listens at ``host:port``; Ray itself would wait for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACH_S).close()


class Supervisor:
    """On a node: starts the worker process beside it, hands it items and says what became of them."""

    def __init__(self, function: bytes, time_limit_s: float | None, folder: str) -> None:
        self._folder = folder
        self._start = function, time_limit_s
        self._worker: LocalWorker | None = None

    def begin(self) -> Message:
        """Start the worker and return its first message."""
        if not Path(self._folder).is_dir():
            return self._refusal(
                f"there is no folder {self._folder}; it must be on a disk that all nodes share"
            )
        os.chdir(self._folder)
        self._worker = LocalSite().start(*self._start)
        message = self._answer(self._worker)
        self._worker.ready = not isinstance(message, Gone)
        return message

    def run(self, index: int, item: bytes) -> Message:
        """Give the worker an item and return its answer."""
        assert self._worker is not None
        self._worker.give(index, "", item)
        return self._answer(self._worker)

    def end(self) -> None:
        """Let the worker close what it has open."""
        if self._worker is not None:
            self._worker.dismiss()
            self._worker.kill()

    def _answer(self, worker: LocalWorker) -> Message:
        site = LocalSite()
        while not (found := site.messages([worker])):
            pass
        message = found[0][1]
        failed = not isinstance(message, Gone) and message[0] == "failed" and message[2]
        return self._refusal(message[3]) if failed and not isinstance(message, Gone) else message

    def _refusal(self, text: str) -> Message:
        return ("failed", -1, True, f"On Ray node {socket.gethostname()}: {text}")


class RayWorker:
    """A supervisor and its worker, seen from the driver."""

    def __init__(self, ray: Any, function: bytes, time_limit_s: float | None) -> None:
        self._ray = ray
        # An actor that dies stays dead: the pool itself decides what is tried again, and counts it.
        remote = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(Supervisor)
        self._actor = remote.remote(function, time_limit_s, os.getcwd())
        self.answer: Any = self._actor.begin.remote()
        self.began = time.monotonic()
        self.ready = False
        self.index: int | None = None
        self.key: str | None = None

    def give(self, index: int, key: str, item: bytes) -> None:
        """Send an item."""
        self.index, self.key = index, key
        self.answer = self._actor.run.remote(index, item)

    def kill(self) -> None:
        """End the actor, and with it the worker process, which dies with its parent."""
        with suppress(self._ray.exceptions.RayError):
            self._ray.kill(self._actor)

    def dismiss(self) -> None:
        """Let an idle worker close what it has open."""
        with suppress(self._ray.exceptions.RayError):
            self._ray.get(self._actor.end.remote(), timeout=6 if self.ready else 0)


class RaySite:
    """The nodes of a cluster that this process has joined."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray

    def start(self, function: bytes, time_limit_s: float | None) -> RayWorker:
        """Start a worker where there is a free CPU; it waits for one if there is none."""
        return RayWorker(self._ray, function, time_limit_s)

    def messages(self, team: Sequence[Worker]) -> list[tuple[Worker, Message]]:
        """Wait until a worker says something or is lost, or for a second."""
        ours = [worker for worker in team if isinstance(worker, RayWorker)]
        asked = {worker.answer: worker for worker in ours if worker.answer is not None}
        try:
            answered, _ = self._ray.wait(list(asked), num_returns=1, timeout=_LOOK_S)
        except self._ray.exceptions.RayError as error:
            raise UserError(f"The Ray cluster is gone: {_last_line(error)}") from error
        found: list[tuple[Worker, Message]] = []
        for answer in answered:
            worker = asked[answer]
            worker.answer = None
            found.append((worker, self._read(answer)))
        if not any(w.ready for w in ours) and time.monotonic() > min(w.began for w in ours) + _START_LIMIT_S:
            raise UserError(f"No node of the Ray cluster has had a free CPU for {_START_LIMIT_S:g} s.")
        return found

    def _read(self, answer: Any) -> Message:
        try:
            message: Message = self._ray.get(answer)
        except self._ray.exceptions.RayError as error:
            return Gone(f"its Ray worker was lost ({_last_line(error)})")
        return message


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
