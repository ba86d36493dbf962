"""The numbered data and video files of a dataset: many episodes a file, a new one when it is full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from heedful.spec.errors import UserError
from heedful.store.datasets import layout
from heedful.store.video import VideoJoiner

_IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
"""An image inside a parquet file; LeRobot reads the path only where there are no bytes."""


class DataFiles:
    """The parquet files of frames; one row group an episode."""

    def __init__(self, root: Path) -> None:
        """Begin under ``root``, the dataset's folder."""
        self.root = root
        self.number = -1
        self.file: BinaryIO | None = None
        self.writer: Any = None

    def add(
        self, columns: Mapping[str, NDArray[Any]], pictures: Mapping[str, Sequence[bytes]] | None = None
    ) -> dict[str, int]:
        """Append an episode and return where it went.

        Args:
            columns: Feature -> its numbers, [T] or [T, D].
            pictures: Feature -> one image file a frame.
        """
        arrays = {
            name: pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])
            if values.ndim == 2
            else pa.array(values)
            for name, values in columns.items()
        }
        for name, files in (pictures or {}).items():
            entries = [{"bytes": file, "path": f"frame-{t:06d}.png"} for t, file in enumerate(files)]
            arrays[name] = pa.array(entries, _IMAGE)
        table = pa.table(arrays)
        if self.file is None or self.file.tell() > layout.DATA_FILE_MB * 2**20:
            self.close()
            self.number += 1
            place = layout.file_place(self.number)
            path = self.root / layout.DATA_PATH.format(**place)
            path.parent.mkdir(parents=True, exist_ok=True)
            self.file = path.open("wb")
            self.writer = pq.ParquetWriter(self.file, table.schema, compression="zstd")
        self.writer.write_table(table)
        return layout.file_place(self.number)

    def close(self) -> None:
        """Finish the file under way."""
        if self.file is not None:
            self.writer.close()
            self.file.close()
            self.file = None


class VideoFiles:
    """The video files of one camera."""

    def __init__(self, root: Path, key: str, fps: int) -> None:
        """Begin the files of feature ``key`` under ``root``, the dataset's folder."""
        self.root, self.key, self.fps = root, key, fps
        self.number = -1
        self.file: BinaryIO | None = None
        self.joiner: VideoJoiner | None = None

    def add(self, mp4: bytes, length: int) -> dict[str, int | float]:
        """Append an episode's video of ``length`` frames and return where it went."""
        full = self.joiner is not None and (
            self.joiner.size_bytes + len(mp4) > layout.VIDEO_FILE_MB * 2**20 or not self.joiner.fits(mp4)
        )
        if self.joiner is None or full:
            self.close()
            self.number += 1
            path = self.root / layout.VIDEO_PATH.format(video_key=self.key, **layout.file_place(self.number))
            path.parent.mkdir(parents=True, exist_ok=True)
            self.file = path.open("wb")
            self.joiner = VideoJoiner(self.file, mp4)
        start = self.joiner.frames
        if self.joiner.add(mp4) != length:
            raise UserError(f"A staged video of {self.key} has not the {length} frames of its episode.")
        place: dict[str, int | float] = dict(layout.file_place(self.number))
        return place | {"from_timestamp": start / self.fps, "to_timestamp": (start + length) / self.fps}

    def close(self) -> None:
        """Finish the file under way."""
        if self.joiner is not None and self.file is not None:
            self.joiner.close()
            self.file.close()
            self.joiner = self.file = None
