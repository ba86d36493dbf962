"""Demonstrations on their way into a dataset: one file each, so that a kill loses at most one."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from heedful.spec.codec import digest
from heedful.spec.demonstration import Demonstration
from heedful.spec.errors import UserError
from heedful.store.datasets.layout import COLUMNS
from heedful.store.datasets.statistics import Histogram, histogram
from heedful.store.disk import disk_errors, write_atomically
from heedful.store.video import encode_mp4

State = Literal["demonstration", "failed"]


@dataclass(frozen=True, eq=False)
class StagedEpisode:
    """A demonstration with its images encoded.

    Attributes:
        about: task, fps, attempts, source, id and the cameras' sizes.
        arrays: Field of ``Demonstration`` -> its array.
        videos: Camera -> MP4 bytes.
        histograms: Camera -> color histogram of the images before encoding.
    """

    about: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    videos: Mapping[str, bytes]
    histograms: Mapping[str, Histogram]

    def __len__(self) -> int:
        return len(self.arrays["actions"])


@dataclass(frozen=True)
class Staging:
    """The staging folder of the dataset ``out``; several processes may add to it.

    A key names one demonstration to be; a key may also be marked as failed for good.
    """

    out: Path

    @property
    def folder(self) -> Path:
        """Where the staged files are."""
        return self.out / ".staging"

    def state(self, key: str) -> State | None:
        """Return whether ``key`` has a demonstration, failed for good, or is not settled (None)."""
        if self.place(key, "demonstration").exists():
            return "demonstration"
        return "failed" if self.place(key, "failed").exists() else None

    def place(self, key: str, state: State) -> Path:
        """Return the file of ``key``: of its demonstration, or of the note that it failed."""
        return self.folder / f"{_file_name(key)}.{'npz' if state == 'demonstration' else 'failed'}"

    def add(self, key: str, demonstration: Demonstration) -> None:
        """Encode and keep ``demonstration`` under ``key``, in one step.

        Raises:
            UserError: The disk refuses, or the demonstration's shapes do not fit together.
        """
        check_shapes(demonstration, key)
        buffer = io.BytesIO()
        cameras = sorted(demonstration.images_hwc_u8)
        about = {
            "id": key,
            "task": demonstration.task,
            "fps": demonstration.fps,
            "attempts": demonstration.attempts,
            "source": dict(demonstration.source),
            "cameras": {c: list(demonstration.images_hwc_u8[c].shape[1:3]) for c in cameras},
        }
        packed: dict[str, NDArray[Any]] = {"about": np.frombuffer(json.dumps(about).encode(), np.uint8)}
        for field, _ in COLUMNS.values():
            packed[field] = np.asarray(getattr(demonstration, field), dtype=np.float64)
        packed["phase"] = np.asarray(demonstration.phase, dtype=np.int64)
        for camera in cameras:
            images = demonstration.images_hwc_u8[camera]
            packed[f"video/{camera}"] = np.frombuffer(encode_mp4(images, demonstration.fps), np.uint8)
            packed[f"histogram/{camera}"] = histogram(images)
        np.savez(buffer, **cast(Any, packed))  # numbers only, so nothing is pickled
        write_atomically(self.place(key, "demonstration"), buffer.getvalue())

    def fail(self, key: str, attempts: int) -> None:
        """Note that ``key`` stays without a demonstration after ``attempts``."""
        write_atomically(self.place(key, "failed"), json.dumps(attempts).encode())

    def failed_attempts(self, key: str) -> int:
        """Return how often the failed ``key`` was tried."""
        return int(json.loads(self.place(key, "failed").read_text()))

    def read(self, key: str) -> StagedEpisode:
        """Return what was added under ``key``.

        Raises:
            UserError: The file is damaged; says what to delete.
        """
        path = self.place(key, "demonstration")
        try:
            with np.load(path, allow_pickle=False) as packed:
                arrays = {name: packed[name] for name in packed.files}
            about = json.loads(arrays.pop("about").tobytes())
            videos = {c: arrays.pop(f"video/{c}").tobytes() for c in about["cameras"]}
            histograms = {c: arrays.pop(f"histogram/{c}") for c in about["cameras"]}
        except Exception as error:  # numpy raises many kinds for a damaged file
            raise UserError(
                f"{path} is damaged ({error}). Delete it; the same command collects it again."
            ) from error
        return StagedEpisode(about, arrays, videos, histograms)

    def clear(self) -> None:
        """Remove the staging folder."""
        with disk_errors(self.folder):
            shutil.rmtree(self.folder, ignore_errors=True)


def check_shapes(demonstration: Demonstration, key: str) -> None:
    """Raise unless every array of ``demonstration`` has its length and width."""
    length = len(demonstration.actions)
    wanted = {field: (length, len(names)) for field, names in COLUMNS.values()} | {"phase": (length,)}
    for field, shape in wanted.items():
        found = np.shape(getattr(demonstration, field))
        if found != shape:
            raise UserError(f"Demonstration {key}: {field} is {list(found)}, expected {list(shape)}.")
        if not np.isfinite(getattr(demonstration, field)).all():
            raise UserError(f"Demonstration {key}: {field} has numbers that are not finite.")
    for camera, images in demonstration.images_hwc_u8.items():
        if images.dtype != np.uint8 or images.ndim != 4 or len(images) != length or images.shape[3] != 3:
            raise UserError(
                f"Demonstration {key}: images of {camera} are {images.dtype} {list(images.shape)}, "
                f"expected uint8 [{length}, H, W, 3]."
            )
    if not length:
        raise UserError(f"Demonstration {key} is empty.")


def _file_name(key: str) -> str:
    """Return ``key`` as a file name: readable, and different for different keys."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", key)
    return plain if plain == key else f"{plain}-{digest(key, 6)}"
