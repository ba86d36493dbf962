"""One episode on its way into a dataset, whatever it is: its words, numbers and images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.spec.demonstration import Demonstration
from heedful.spec.errors import UserError
from heedful.store.datasets.layout import COLUMNS, Images, Kind


@dataclass(frozen=True, eq=False)
class EpisodeFrames:
    """One episode, T frames.

    Attributes:
        kind: What it is, and so which numbers it has.
        task: The instruction.
        numbers: ``Column.field`` -> [T, D], or [T] where a frame has a single number.
        images_hwc_u8: Camera -> [T, H, W, 3].
        fps: Frames per second.
        images: How the images are to be kept.
        attempts: Attempts behind a demonstration; ``None`` where the word has no meaning.
        source: Plain facts kept beside the dataset.
    """

    kind: Kind
    task: str
    numbers: Mapping[str, NDArray[Any]]
    images_hwc_u8: Mapping[str, NDArray[np.uint8]]
    fps: float
    images: Images = "video"
    attempts: int | None = None
    source: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(demonstration: Demonstration) -> EpisodeFrames:
        """Return ``demonstration`` as an episode."""
        columns = COLUMNS["demonstration"].values()
        return EpisodeFrames(
            kind="demonstration",
            task=demonstration.task,
            numbers={column.field: np.asarray(getattr(demonstration, column.field)) for column in columns},
            images_hwc_u8=demonstration.images_hwc_u8,
            fps=demonstration.fps,
            attempts=demonstration.attempts,
            source=demonstration.source,
        )

    def __len__(self) -> int:
        return len(self.numbers["actions"])

    def check(self, key: str) -> None:
        """Raise unless every array has its length and width.

        Args:
            key: What the episode is called in the message.

        Raises:
            UserError: Names the array, its shape and the one that is needed.
        """
        where = f"{'Demonstration' if self.kind == 'demonstration' else 'Episode'} {key}"
        length = len(self)
        for column in COLUMNS[self.kind].values():
            values = self.numbers[column.field]
            shape = (length,) if column.names is None else (length, len(column.names))
            if values.shape != shape:
                raise UserError(f"{where}: {column.field} is {list(values.shape)}, expected {list(shape)}.")
            if not np.isfinite(values).all():
                raise UserError(f"{where}: {column.field} has numbers that are not finite.")
        for camera, images in self.images_hwc_u8.items():
            if images.dtype != np.uint8 or images.ndim != 4 or len(images) != length or images.shape[3] != 3:
                raise UserError(
                    f"{where}: images of {camera} are {images.dtype} {list(images.shape)}, "
                    f"expected uint8 [{length}, H, W, 3]."
                )
        if not length:
            raise UserError(f"{where} is empty.")
