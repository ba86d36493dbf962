"""Demonstrations out of a dataset, images decoded and made smaller on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from heedful.spec.demonstration import Demonstration
from heedful.spec.errors import UserError, unknown
from heedful.spec.images import area_resize
from heedful.store.datasets import layout
from heedful.store.datasets.meta import Meta, read_meta, read_table
from heedful.store.datasets.meta_values import unreadable
from heedful.store.video import decode_mp4

_COLUMNS = layout.COLUMNS["demonstration"]


def load_demonstrations(
    path: str | Path, size_px: int | None = None, cameras: Sequence[str] | None = None
) -> Iterator[Demonstration]:
    """Yield the demonstrations of the dataset at ``path``, one at a time, in order.

    Args:
        path: A LeRobot v3.0 dataset with heedful's features.
        size_px: Height and width of the images by area averaging; ``None``: as recorded.
        cameras: Which cameras to decode; ``None``: all. None are decoded for ``()``.

    Raises:
        UserError: No dataset there, an unknown camera, a feature that is lacking, a damaged file.
    """
    meta = read_meta(path)
    for camera in cameras or ():
        if camera not in meta.cameras:
            raise unknown("camera", camera, meta.cameras)
    for feature in _COLUMNS:
        if feature not in meta.info["features"]:
            raise UserError(
                f"The dataset {path} lacks the feature {feature}; only demonstrations that "
                "`heedful collect` wrote have it."
            )
    chosen = tuple(meta.cameras if cameras is None else cameras)
    for camera in chosen:
        if not meta.is_video(camera):
            raise UserError(
                f"The images of camera {camera} of {path} are no video; only demonstrations "
                "that `heedful collect` wrote can be read."
            )
    return _demonstrations(meta, size_px, chosen)


def _demonstrations(meta: Meta, size_px: int | None, cameras: Sequence[str]) -> Iterator[Demonstration]:
    notes = meta.notes.get("episodes", [])
    frames = _Frames(meta)
    reels = {camera: _Reel(size_px) for camera in cameras}
    for i, episode in enumerate(meta.episodes):
        length = int(episode["length"])
        columns = frames.columns(episode)
        images = {
            camera: reel.read(meta.video_path(episode, camera), meta.video_start(episode, camera), length)
            for camera, reel in reels.items()
        }
        note: Mapping[str, Any] = notes[i] if i < len(notes) else {}
        yield Demonstration(
            task=str(episode["tasks"][0]),
            images_hwc_u8=images,
            fps=float(meta.fps),
            attempts=int(note.get("attempts", 1)),
            source=dict(note.get("source", {})),
            **{column.field: columns[feature] for feature, column in _COLUMNS.items()},
        )


class _Frames:
    """Reads the numbers of episodes; keeps the file read last."""

    def __init__(self, meta: Meta) -> None:
        self._meta = meta
        self._path: Path | None = None
        self._table: pa.Table = None
        self._first = 0

    def columns(self, episode: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        path = self._meta.data_path(episode)
        with unreadable(str(path)):
            return self._columns(path, episode)

    def _columns(self, path: Path, episode: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        if path != self._path:
            self._table, self._path = read_table(path, [*_COLUMNS, "index"]), path
            self._first = int(self._table["index"][0].as_py()) if self._table.num_rows else 0
        start, length = int(episode["dataset_from_index"]) - self._first, int(episode["length"])
        table = self._table.slice(max(start, 0), length)
        if start < 0 or table.num_rows != length:
            raise UserError(f"{path} does not hold all frames of episode {episode['episode_index']}.")
        return {
            name: column_values(table, name).astype(np.int64 if column.dtype == "int64" else np.float64)
            for name, column in _COLUMNS.items()
        }


def column_values(table: pa.Table, name: str) -> NDArray[Any]:
    """Return a column of numbers, [T], or of lists of equally many numbers, [T, D].

    Raises:
        ValueError: A frame has none, or another number of them than others.
    """
    column = table[name].combine_chunks()
    if column.null_count:
        raise ValueError(f"{name} is empty in {column.null_count} frames")
    if not pa.types.is_fixed_size_list(column.type) and not pa.types.is_list(column.type):
        values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return values
    lengths = pc.list_value_length(column).unique()
    if len(lengths) > 1:
        raise ValueError(f"{name} has not equally many numbers in every frame")
    flat = column.flatten().to_numpy(zero_copy_only=False)
    matrix: NDArray[Any] = flat.reshape(table.num_rows, -1)
    return matrix


class _Reel:
    """Decodes a video file forwards, as far as it is asked."""

    def __init__(self, size_px: int | None) -> None:
        self._size_px = size_px
        self._path: Path | None = None
        self._frames: Iterator[NDArray[np.uint8]] = iter(())
        self._at = 0

    def read(self, path: Path, start: int, length: int) -> NDArray[np.uint8]:
        if path != self._path or start < self._at:
            self._path, self._frames, self._at = path, decode_mp4(path), 0
        found = []
        for image in self._frames:
            self._at += 1
            if self._at > start:
                size = self._size_px
                found.append(image if size is None else area_resize(image, size, size))
                if len(found) == length:
                    return np.stack(found)
        raise UserError(f"Video {path} ends before frame {start + length}.")
