"""Demonstrations of what a suite asks about, or of a plan, as a LeRobot dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heedful.spec.demonstration import DemonstrationTask
from heedful.spec.errors import UserError, unknown
from heedful.spec.manipulation import VERBS
from heedful.spec.plan import Plan
from heedful.spec.plugins import load as load_plugin
from heedful.spec.progress import Progress, silent
from heedful.spec.seams import Suite
from heedful.store.datasets import DatasetSummary, check_dataset

TaskGroups = Mapping[str, Sequence[DemonstrationTask]]
"""The pair or grid that demonstrations are about -> the demonstrations, in order."""

IMAGE_SIZES_PX = (32, 2048)
"""Smallest and largest side of a demonstration's images."""


def check_image_size(image_size_px: int) -> None:
    """Refuse a side of images that a world cannot render or a video cannot hold.

    Raises:
        UserError: It is odd, too small or too large.
    """
    low, high = IMAGE_SIZES_PX
    if image_size_px % 2 or not low <= image_size_px <= high:
        raise UserError(
            f"The image size is {image_size_px} px; it must be an even number from {low} to {high}."
        )


def collect(
    suite: str,
    options: Mapping[str, Any],
    out: Path,
    base_seed: int = 0,
    image_size_px: int = 256,
    workers: int = 2,
    progress: Progress = silent,
    cache: Path | None = None,
) -> DatasetSummary:
    """Collect the demonstrations that teach ``options`` of ``suite``, and check what was written.

    Args:
        suite: Name of the suite.
        options: The suite's options; ``pairs`` and ``demos`` for the factors suite.
        out: Folder of the dataset; an unfinished one is continued, a finished one only checked.
        base_seed: Root of every random number.
        image_size_px: Side of both square images.
        workers: Worker processes, one thread each.
        progress: Told after every demonstration.
        cache: Folder of finished demonstrations that datasets share.

    Raises:
        UserError: Unknown suite or option, an image size that cannot be, another dataset in
            ``out``, or the disk refuses.
    """
    check_image_size(image_size_px)
    return _collect(suite_tasks(suite, options), out, base_seed, image_size_px, workers, progress, cache)


def collect_plan(
    plan: Path,
    out: Path,
    base_seed: int = 0,
    image_size_px: int = 256,
    workers: int = 2,
    progress: Progress = silent,
    cache: Path | None = None,
) -> DatasetSummary:
    """Collect the demonstrations of the plan file ``plan``; see ``collect_from_plan``.

    Raises:
        UserError: The plan cannot be read or demonstrated, and as ``collect``.
    """
    from heedful.store.plan_file import read_plan

    check_image_size(image_size_px)
    return collect_from_plan(read_plan(plan), out, base_seed, image_size_px, workers, progress, cache)


def collect_from_plan(
    plan: Plan,
    out: Path,
    base_seed: int = 0,
    image_size_px: int = 256,
    workers: int = 2,
    progress: Progress = silent,
    cache: Path | None = None,
) -> DatasetSummary:
    """Collect one demonstration for every row of ``plan``, in its order, and check what was written.

    The same configuration, carriers and repeat are the same demonstration in every plan, so
    plans that share ``cache`` collect it once.

    Args:
        plan: The schedule; its grammar must be a vocabulary, which says how scenes look.
        out: Folder of the dataset; an unfinished one is continued, a finished one only checked.
        base_seed: Root of every random number.
        image_size_px: Side of both square images.
        workers: Worker processes, one thread each.
        progress: Told after every demonstration.
        cache: Folder of finished demonstrations that datasets share.

    Raises:
        UserError: The plan cannot be demonstrated in simulation, and as ``collect``.
    """
    check_image_size(image_size_px)
    return _collect(tasks_of_plan(plan), out, base_seed, image_size_px, workers, progress, cache)


def suite_tasks(suite: str, options: Mapping[str, Any]) -> TaskGroups:
    """Return the demonstrations that teach ``options`` of ``suite``, by pair or for the whole grid.

    Raises:
        UserError: Unknown suite or option, or a scene or verb that cannot be demonstrated.
    """
    chosen: Suite = load_plugin("heedful.suites", suite)()
    resolved = chosen.options(options)
    if "pairs" in resolved:
        pairs: list[str] = resolved["pairs"]
        return _checked({pair: chosen.tasks({**resolved, "pairs": [pair]}) for pair in pairs})
    return _checked({",".join(resolved.get("factors", [])): chosen.tasks(resolved)})


def tasks_of_plan(plan: Plan) -> TaskGroups:
    """Return one demonstration for every row of ``plan``, under the name of its grid.

    Raises:
        UserError: The plan cannot be demonstrated in simulation.
    """
    from heedful.spec.vocabulary import load_vocabulary
    from heedful.suites.grid.tasks import plan_tasks

    try:
        vocabulary = load_vocabulary(plan.grammar)
    except UserError as error:
        raise UserError(
            f"The plan's grammar {plan.grammar!r} cannot be demonstrated in simulation: {error}"
        ) from error
    return _checked({",".join(plan.grid.names): plan_tasks(vocabulary, plan)})


def _checked(groups: TaskGroups) -> TaskGroups:
    """Return ``groups``; refuses what the world cannot show or the experts cannot do."""
    from heedful.worlds.tabletop.placement import check_scene

    for task in (task for tasks in groups.values() for task in tasks):
        check_scene(task.scene)
        if task.verb not in VERBS:
            raise unknown("verb", task.verb, VERBS)
    return groups


def _collect(
    groups: TaskGroups,
    out: Path,
    base_seed: int,
    image_size_px: int,
    workers: int,
    progress: Progress,
    cache: Path | None,
) -> DatasetSummary:
    from heedful.rollouts.collect import collect as collect_tasks

    collect_tasks(
        [task for tasks in groups.values() for task in tasks],
        out,
        base_seed=base_seed,
        image_size=image_size_px,
        workers=workers,
        progress=progress,
        stage=f"collect {' '.join(groups)}".strip(),
        cache=cache,
    )
    return check_dataset(out)
