"""What collecting would do and cost, worked out before anything is collected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.store.datasets import Staging
from heedful.store.datasets.cache import DemonstrationCache
from heedful.store.datasets.collection import check_request
from heedful.store.datasets.layout import INFO_PATH
from heedful.store.disk import check_folder
from heedful.workflows.collecting import TaskGroups, check_image_size, suite_tasks, tasks_of_plan

DEMONSTRATION_S, PIXEL_S = 0.133, 1.44e-6
"""CPU seconds of a demonstration, and more of it by pixel of its square images (docs/results/speed.md)."""

DEMONSTRATION_BYTES, PIXEL_BYTES = 28_500, 1.12
"""The same in bytes of the dataset; measured from 64 to 256 px."""


@dataclass(frozen=True)
class CollectionPlan:
    """What would be collected.

    Attributes:
        demonstrations: How many the dataset would hold.
        instructions: How many of them are worded differently.
        table: Pair or grid -> values of its factors -> demonstrations.
        complete: Whether the very same dataset is in the folder, finished: it is only checked.
        there: Demonstrations that an unfinished one in the folder holds already.
        cached: Those that the cache has, of the others.
        cameras: Names of the cameras.
        image_size_px: Side of their square images.
        minutes: Rough, for what is left, with the given workers on as many cores.
        disk_mb: Rough, of the whole dataset; as much again where a cache keeps what is collected.
    """

    demonstrations: int
    instructions: int
    table: Mapping[str, Mapping[str, int]]
    complete: bool
    there: int
    cached: int
    cameras: tuple[str, ...]
    image_size_px: int
    minutes: float
    disk_mb: float

    @property
    def left(self) -> int:
        """Return how many would have to be collected."""
        return 0 if self.complete else self.demonstrations - self.there - self.cached


def planned_collection(
    suite: str,
    options: Mapping[str, Any],
    out: Path,
    base_seed: int = 0,
    image_size_px: int = 256,
    workers: int = 2,
    cache: Path | None = None,
) -> CollectionPlan:
    """Return what ``collecting.collect`` would do with the same arguments; nothing is written.

    Raises:
        UserError: As ``collect``, as far as can be told before; so where ``out`` holds something else.
    """
    return _planned(suite_tasks(suite, options), out, base_seed, image_size_px, workers, cache)


def planned_collection_of_plan(
    plan: Path,
    out: Path,
    base_seed: int = 0,
    image_size_px: int = 256,
    workers: int = 2,
    cache: Path | None = None,
) -> CollectionPlan:
    """Return what ``collecting.collect_plan`` would do with the same arguments; nothing is written.

    Raises:
        UserError: As ``collect_plan``, as far as can be told before.
    """
    from heedful.store.plan_file import read_plan

    return _planned(tasks_of_plan(read_plan(plan)), out, base_seed, image_size_px, workers, cache)


def collecting_s(image_size_px: int) -> float:
    """Return the rough CPU seconds of one demonstration with images of that side."""
    return DEMONSTRATION_S + PIXEL_S * image_size_px**2


def dataset_bytes(image_size_px: int) -> float:
    """Return the rough bytes of one demonstration with images of that side."""
    return DEMONSTRATION_BYTES + PIXEL_BYTES * image_size_px**2


def _planned(
    groups: TaskGroups, out: Path, base_seed: int, image_size_px: int, workers: int, cache: Path | None
) -> CollectionPlan:
    from heedful.rollouts.cache_key import cache_key
    from heedful.rollouts.collect import CAMERAS, MAX_ATTEMPTS, request_of

    check_image_size(image_size_px)
    for folder in (out, *([cache] if cache is not None else [])):
        check_folder(folder)
    tasks = [task for group in groups.values() for task in group]
    check_request(out, request_of(tasks, base_seed, image_size_px))
    table = {
        name: dict(
            Counter("+".join(task.instruction.values[f] for f in name.split(",") if f) for task in group)
        )
        for name, group in groups.items()
    }
    complete = (out / INFO_PATH).exists()
    open_ = [task for task in tasks if not complete and Staging(out).state(task.id) is None]
    cached = 0
    if cache is not None:
        keys = (
            cache_key(task, base_seed, image_size_px, MAX_ATTEMPTS, "tabletop", {}, None) for task in open_
        )
        cached = sum(map(DemonstrationCache(cache).holds, keys))
    left = len(open_) - cached
    return CollectionPlan(
        demonstrations=len(tasks),
        instructions=len({task.instruction.text for task in tasks}),
        table=table,
        complete=complete,
        there=0 if complete else len(tasks) - len(open_),
        cached=cached,
        cameras=CAMERAS,
        image_size_px=image_size_px,
        minutes=left * collecting_s(image_size_px) / workers / 60,
        disk_mb=0.0 if complete else len(tasks) * dataset_bytes(image_size_px) / 1e6,
    )
