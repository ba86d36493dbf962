"""Demonstrations of what a suite asks about, as a LeRobot dataset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heedful.spec.errors import UserError
from heedful.spec.plugins import load as load_plugin
from heedful.spec.progress import Progress, silent
from heedful.spec.seams import Suite
from heedful.store.datasets import DatasetSummary, check_dataset

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

    Raises:
        UserError: Unknown suite or option, an image size that cannot be, another dataset in
            ``out``, or the disk refuses.
    """
    from heedful.rollouts.collect import collect as collect_tasks

    check_image_size(image_size_px)
    chosen: Suite = load_plugin("heedful.suites", suite)()
    resolved = chosen.options(options)
    stage = f"collect {' '.join(resolved.get('pairs', []))}".strip()
    collect_tasks(
        chosen.tasks(resolved),
        out,
        base_seed=base_seed,
        image_size=image_size_px,
        workers=workers,
        progress=progress,
        stage=stage,
    )
    return check_dataset(out)
