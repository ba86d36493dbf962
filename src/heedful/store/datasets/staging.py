"""Episodes on their way into a dataset: one file each, so that a kill loses at most one."""

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
from heedful.store.datasets.episode import EpisodeFrames
from heedful.store.datasets.layout import COLUMNS, Images, Kind
from heedful.store.datasets.pictures import encode_pngs, packed, unpacked
from heedful.store.datasets.statistics import Histogram, histogram
from heedful.store.disk import disk_errors, write_atomically
from heedful.store.video import encode_mp4

State = Literal["demonstration", "failed"]


@dataclass(frozen=True, eq=False)
class StagedEpisode:
    """An episode with its images encoded.

    Attributes:
        about: task, fps, attempts, source, id and the cameras' sizes.
        arrays: ``Column.field`` -> its array.
        videos: Camera -> MP4 bytes, where images are kept as video.
        pictures: Camera -> one PNG file a frame, where they are not.
        histograms: Camera -> color histogram of the images before encoding.
    """

    about: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    videos: Mapping[str, bytes]
    pictures: Mapping[str, list[bytes]]
    histograms: Mapping[str, Histogram]

    @property
    def kind(self) -> Kind:
        """What the episode is."""
        return cast(Kind, self.about.get("kind", "demonstration"))

    @property
    def images(self) -> Images:
        """How its images are kept."""
        return "png" if self.pictures else "video"

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

    def add(self, key: str, given: Demonstration | EpisodeFrames) -> None:
        """Encode and keep ``given`` under ``key``, in one step.

        Raises:
            UserError: The disk refuses, or the shapes of ``given`` do not fit together.
        """
        episode = given if isinstance(given, EpisodeFrames) else EpisodeFrames.of(given)
        episode.check(key)
        buffer = io.BytesIO()
        cameras = sorted(episode.images_hwc_u8)
        about: dict[str, Any] = {"id": key, "task": episode.task, "fps": episode.fps}
        if episode.attempts is not None:
            about["attempts"] = episode.attempts
        about["source"] = dict(episode.source)
        about["cameras"] = {c: list(episode.images_hwc_u8[c].shape[1:3]) for c in cameras}
        if episode.kind != "demonstration":  # the usual kind goes without saying
            about["kind"] = episode.kind
        arrays: dict[str, NDArray[Any]] = {"about": np.frombuffer(json.dumps(about).encode(), np.uint8)}
        for column in COLUMNS[episode.kind].values():
            dtype = np.float64 if column.dtype == "float32" else column.dtype
            arrays[column.field] = np.asarray(episode.numbers[column.field], dtype=dtype)
        for camera in cameras:
            images = episode.images_hwc_u8[camera]
            if episode.images == "video":
                arrays[f"video/{camera}"] = np.frombuffer(encode_mp4(images, episode.fps), np.uint8)
            else:
                files = packed(encode_pngs(images))
                arrays |= {f"{part}/{camera}": values for part, values in files.items()}
            arrays[f"histogram/{camera}"] = histogram(images)
        np.savez(buffer, **cast(Any, arrays))  # numbers only, so nothing is pickled
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
            with np.load(path, allow_pickle=False) as kept:
                arrays = {name: kept[name] for name in kept.files}
            about = json.loads(arrays.pop("about").tobytes())
            cameras = list(about["cameras"])
            filmed = [c for c in cameras if f"video/{c}" in arrays]
            videos = {c: arrays.pop(f"video/{c}").tobytes() for c in filmed}
            pictures = {
                c: unpacked(arrays.pop(f"bytes/{c}"), arrays.pop(f"lengths/{c}"))
                for c in cameras
                if c not in filmed
            }
            histograms = {c: arrays.pop(f"histogram/{c}") for c in cameras}
        except Exception as error:  # numpy raises many kinds for a damaged file
            raise UserError(
                f"{path} is damaged ({error}). Delete it; the same command collects it again."
            ) from error
        return StagedEpisode(about, arrays, videos, pictures, histograms)

    def clear(self) -> None:
        """Remove the staging folder."""
        with disk_errors(self.folder):
            shutil.rmtree(self.folder, ignore_errors=True)


def _file_name(key: str) -> str:
    """Return ``key`` as a file name: readable, and different for different keys."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", key)
    return plain if plain == key else f"{plain}-{digest(key, 6)}"
