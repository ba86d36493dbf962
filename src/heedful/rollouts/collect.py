"""Demonstrations of tasks by scripted experts, collected in worker processes into a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heedful.rollouts.cache_key import cache_key
from heedful.rollouts.expert import Expert, attempt, recorded, succeeded
from heedful.rollouts.pool import Lost, Pool
from heedful.rollouts.watch import Watch
from heedful.spec.codec import digest, to_json
from heedful.spec.contract import CameraContract
from heedful.spec.demonstration import DemonstrationTask
from heedful.spec.errors import UserError
from heedful.spec.plugins import load as load_plugin
from heedful.spec.progress import Progress, silent
from heedful.store.datasets import Staging
from heedful.store.datasets.cache import DemonstrationCache
from heedful.store.datasets.collection import Collection

CAMERAS = ("agent", "wrist")
MAX_ATTEMPTS = 10
TIME_LIMIT_S = 300.0
"""A worker busy with one attempt for longer is killed, and its task tried once more."""


@dataclass(frozen=True)
class CollectCounts:
    """How collecting went.

    Attributes:
        demonstrations: In the dataset.
        failed: Tasks that no attempt achieved.
        attempts: Attempts behind both, those of earlier commands included.
    """

    demonstrations: int
    failed: int
    attempts: int


def collect(
    tasks: Sequence[DemonstrationTask],
    out: str | Path,
    base_seed: int = 0,
    image_size: int = 256,
    workers: int = 2,
    progress: Progress = silent,
    stage: str = "collect",
    max_attempts: int = MAX_ATTEMPTS,
    world: str = "tabletop",
    world_options: Mapping[str, Any] | None = None,
    expert: Expert | None = None,
    cache: Path | None = None,
) -> CollectCounts:
    """Collect one demonstration of every task into a LeRobot dataset at ``out``.

    Attempt k of a task meets the scene of seed (base seed, the task's ``seed_key``, k); the
    first that succeeds is kept. A kill loses only the attempts under way: the same call goes
    on, and a finished dataset is left as it is. The dataset does not depend on ``workers``.

    Args:
        tasks: What to demonstrate; the episodes keep this order.
        out: Folder of the dataset.
        base_seed: Root of every random number.
        image_size: Height and width of both cameras' images in px; even.
        workers: Worker processes, one thread each.
        progress: Told after every task.
        stage: What to call the work in ``progress``.
        max_attempts: After so many failures the task is left out, and counted.
        world: Name of the world.
        world_options: Its options.
        expert: Who demonstrates; ``None``: the tabletop's scripted expert.
        cache: Folder in which finished demonstrations are looked up and kept, so that datasets
            which share it collect none twice; the dataset itself does not depend on it.

    Raises:
        UserError: ``out`` holds something else, nothing succeeded, or the disk refuses.
    """
    if not tasks:
        raise UserError("There is nothing to collect: the list of tasks is empty.")
    request = request_of(tasks, base_seed, image_size, max_attempts, world, world_options)
    keys = [task.id for task in tasks]
    if cache is not None:
        DemonstrationCache(cache).make()  # before there is a folder that remembers this request
    with Collection.open(Path(out), request, keys) as collection:
        if not collection.complete:
            collector = Collector(
                str(out), base_seed, image_size, max_attempts, world, dict(world_options or {}), expert, cache
            )
            left = collector.share(tasks)
            done = len(tasks) - len(left)
            progress(stage, done, len(tasks))
            with closing(Pool(workers).unordered(collector, left)) as results:
                for result in results:
                    if isinstance(result, Lost):
                        raise UserError(f"Collecting {left[result.index].id}: {result.reason}.")
                    done += 1
                    progress(stage, done, len(tasks))
            collection.finish()
        return CollectCounts(*collection.counts())


def request_of(
    tasks: Sequence[DemonstrationTask],
    base_seed: int = 0,
    image_size: int = 256,
    max_attempts: int = MAX_ATTEMPTS,
    world: str = "tabletop",
    world_options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return what a dataset remembers of the arguments of ``collect``: all that its content depends on."""
    return {
        "base_seed": base_seed,
        "image_size": image_size,
        "max_attempts": max_attempts,
        "world": world,
        "world_options": dict(world_options or {}),
        "tasks": {"count": len(tasks), "digest": digest([to_json(task) for task in tasks])},
    }


@dataclass
class Collector:
    """A worker's side of ``collect``: attempts a task until it succeeds, and stages the result."""

    out: str
    base_seed: int
    image_size: int
    max_attempts: int
    world: str
    world_options: Mapping[str, Any]
    expert: Expert | None
    cache: Path | None = None
    _world: Any = field(default=None, repr=False)
    _watch: Watch | None = field(default=None, repr=False)

    def watched_by(self, watch: Watch) -> None:
        """Let a driver know through ``watch`` how long an attempt may take."""
        self._watch = watch

    def share(self, tasks: Sequence[DemonstrationTask]) -> list[DemonstrationTask]:
        """Take from the cache what it has, keep there what is staged, and return the tasks that are left."""
        staging = Staging(Path(self.out))
        if self.cache is None:
            return [task for task in tasks if staging.state(task.id) is None]
        cache = DemonstrationCache(self.cache)
        left = []
        for task in tasks:
            if staging.state(task.id) is not None:
                cache.keep(self._key(task), staging, task.id)  # a kill may have come in between
            elif cache.give(self._key(task), staging, task.id) is None:
                left.append(task)
        return left

    def __call__(self, task: DemonstrationTask) -> None:
        """Stage the demonstration of ``task``, or that it failed."""
        staging = Staging(Path(self.out))
        if self.cache is None:
            self._collect(task, staging)
            return
        cache, key = DemonstrationCache(self.cache), self._key(task)
        with cache.claimed(key):  # another process may have been collecting the very same one
            if cache.give(key, staging, task.id) is None:
                self._collect(task, staging)
                cache.keep(key, staging, task.id)

    def _collect(self, task: DemonstrationTask, staging: Staging) -> None:
        """Attempt ``task`` until it succeeds."""
        if self._world is None:
            self._world = load_plugin("heedful.worlds", self.world)(**self.world_options)
        expert = self.expert
        if expert is None:
            from heedful.worlds.tabletop.experts import plan_keyposes

            expert = plan_keyposes
        cameras = tuple(CameraContract(name, self.image_size, self.image_size) for name in CAMERAS)
        for number in range(self.max_attempts):
            with self._limited(f"attempt {number + 1}"):
                done = attempt(self._world, task, expert, self.base_seed, number)
                if succeeded(task, done.trajectory):
                    staging.add(task.id, recorded(self._world, task, done, number + 1, cameras))
                    return
        staging.fail(task.id, self.max_attempts)

    def _key(self, task: DemonstrationTask) -> str:
        return cache_key(
            task,
            self.base_seed,
            self.image_size,
            self.max_attempts,
            self.world,
            self.world_options,
            self.expert,
        )

    def close(self) -> None:
        """Free the world."""
        if self._world is not None:
            self._world.close()

    def _limited(self, doing: str) -> AbstractContextManager[None]:
        return nullcontext() if self._watch is None else self._watch.limited(doing, TIME_LIMIT_S)
