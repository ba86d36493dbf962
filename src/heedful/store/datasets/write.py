"""Staged episodes put together as a LeRobot v3.0 dataset."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from heedful.spec.demonstration import Demonstration
from heedful.spec.errors import UserError
from heedful.store.datasets import layout
from heedful.store.datasets.shards import DataFiles, VideoFiles
from heedful.store.datasets.staging import StagedEpisode, Staging
from heedful.store.datasets.statistics import Histogram, Stats, image_stats, joined, number_stats
from heedful.store.disk import disk_errors, write_atomically, write_synced
from heedful.store.process_lock import ProcessLock

_PARTS = ("data", "videos", "meta")  # meta comes last: with it the dataset is complete
_MOVING = "moving"
"""The file in the staging folder that says that parts of the dataset are being put in their places."""


def write_dataset(
    out: str | Path,
    demonstrations: Iterable[Demonstration],
    request: Mapping[str, Any] | None = None,
    robot_type: str = "panda",
) -> Path:
    """Write ``demonstrations`` as a dataset at ``out`` and return its path.

    Args:
        out: A new or empty folder.
        demonstrations: Equal cameras, image sizes and rates.
        request: What was asked for, kept in ``meta/heedful.json``.
        robot_type: For ``info.json``.

    Raises:
        UserError: ``out`` holds a dataset, demonstrations differ, or the disk refuses.
    """
    out = Path(out)
    refuse_complete(out)
    refuse_parts_of_others(Staging(out))
    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    lock = ProcessLock(out)
    try:
        staging = Staging(out)
        with disk_errors(out):
            _remove_moved(staging)
        staging.clear()
        keys = []
        for i, demonstration in enumerate(demonstrations):
            keys.append(f"{i:06d}")
            staging.add(keys[-1], demonstration)
        assemble(staging, keys, [], request or {}, robot_type)
    finally:
        lock.release()
    return out


def refuse_complete(out: Path) -> None:
    """Raise when there is a complete dataset at ``out``."""
    if (out / layout.INFO_PATH).exists():
        raise UserError(f"There is a dataset at {out} already; choose another folder or delete it.")


def refuse_parts_of_others(staging: Staging) -> None:
    """Raise when there are parts of an unfinished dataset at ``staging.out`` that no assembly put there.

    A kill between the last steps of ``assemble`` leaves parts of ours, and a note that says so.
    """
    if (staging.folder / _MOVING).exists():
        return
    for part in _PARTS:
        if (staging.out / part).exists():
            raise UserError(
                f"{staging.out} holds {part}/, which is not of the dataset to be made there; "
                "choose another folder or move it away."
            )


def _remove_moved(staging: Staging) -> None:
    """Remove what a killed assembly had put in its place already."""
    if (staging.folder / _MOVING).exists():
        for part in _PARTS:
            shutil.rmtree(staging.out / part, ignore_errors=True)


def assemble(
    staging: Staging,
    keys: Sequence[str],
    failed: Sequence[str],
    request: Mapping[str, Any],
    robot_type: str = "panda",
) -> None:
    """Make the dataset of the staged ``keys``, in this order, and remove the staging folder.

    Killed at any instant, the staged demonstrations or the complete dataset are there.

    Args:
        staging: Where they are.
        keys: Those with a demonstration; episode i is the i-th.
        failed: Those that failed for good; they are noted in ``meta/heedful.json``.
        request: What was asked for, noted there, too.
        robot_type: For ``info.json``.

    Raises:
        UserError: There is nothing staged, parts of something else are in the way, or the disk refuses.
    """
    if not keys:
        raise UserError("There are no demonstrations to make a dataset of.")
    building = staging.folder / "assembly"
    out = staging.out
    with disk_errors(out):
        shutil.rmtree(building, ignore_errors=True)
        with _Writer(building) as writer:
            for key in keys:
                writer.add(staging.read(key))
        failures = [{"id": key, "attempts": staging.failed_attempts(key)} for key in failed]
        writer.write_meta(failures, request, robot_type)
        refuse_parts_of_others(staging)
        write_atomically(staging.folder / _MOVING, b"")  # from now on such parts are of this dataset
        _remove_moved(staging)
        for part in _PARTS:
            if (building / part).exists():
                (building / part).rename(out / part)
    staging.clear()


class _Writer:
    """Writes the data and video files of a dataset episode by episode, then its meta folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.episodes: list[dict[str, Any]] = []
        self.notes: list[dict[str, Any]] = []
        self.tasks: dict[str, int] = {}
        self.first: StagedEpisode | None = None
        self.frames = 0
        self.columns: list[dict[str, NDArray[Any]]] = []
        self.histograms: dict[str, list[Histogram]] = {}
        self.data = DataFiles(root)
        self.videos: dict[str, VideoFiles] = {}

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.data.close()
        for files in self.videos.values():
            files.close()

    def add(self, episode: StagedEpisode) -> None:
        """Append ``episode``."""
        self._check(episode)
        index, length = len(self.episodes), len(episode)
        task = self.tasks.setdefault(episode.about["task"], len(self.tasks))
        steps = np.arange(length)
        columns: dict[str, NDArray[Any]] = {
            feature: episode.arrays[column.field].astype(column.dtype)
            for feature, column in layout.COLUMNS[episode.kind].items()
        }
        columns["timestamp"] = (steps / self.fps).astype(np.float32)
        columns["frame_index"] = steps
        columns["episode_index"] = np.full(length, index)
        columns["index"] = self.frames + steps
        columns["task_index"] = np.full(length, task)
        row: dict[str, Any] = {"episode_index": index, "tasks": [episode.about["task"]], "length": length}
        files = {layout.IMAGE_PREFIX + camera: pngs for camera, pngs in episode.pictures.items()}
        row |= {f"data/{k}": v for k, v in self.data.add(columns, files).items()}
        row |= {"dataset_from_index": self.frames, "dataset_to_index": self.frames + length}
        stats = {name: number_stats(values) for name, values in columns.items()}
        for camera, mp4 in episode.videos.items():
            key = layout.IMAGE_PREFIX + camera
            reel = self.videos.setdefault(camera, VideoFiles(self.root, key, self.fps))
            row |= {f"videos/{key}/{k}": v for k, v in reel.add(mp4, length).items()}
        for camera, counts in episode.histograms.items():
            stats[layout.IMAGE_PREFIX + camera] = image_stats(counts, length)
            self.histograms.setdefault(camera, []).append(counts)
        row |= {f"stats/{name}/{what}": value for name, s in stats.items() for what, value in s.items()}
        row |= {"meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0}
        self.episodes.append(row)
        kept = [name for name in ("id", "attempts", "source") if name in episode.about]
        self.notes.append({name: episode.about[name] for name in kept})
        self.columns.append(columns)
        self.frames += length

    @property
    def fps(self) -> int:
        assert self.first is not None
        return int(self.first.about["fps"])

    def _check(self, episode: StagedEpisode) -> None:
        if self.first is None:
            if episode.about["fps"] != int(episode.about["fps"]):
                raise UserError(f"LeRobot datasets need a whole number of fps, not {episode.about['fps']}.")
            self.first = episode
        for key in ("fps", "cameras"):
            if episode.about[key] != self.first.about[key]:
                raise UserError(
                    f"Demonstration {episode.about['id']}: {key} is {episode.about[key]}, "
                    f"that of {self.first.about['id']} is {self.first.about[key]}; they must be equal."
                )
        for what in ("kind", "images"):
            if getattr(episode, what) != getattr(self.first, what):
                raise UserError(
                    f"Episode {episode.about['id']}: {what} is {getattr(episode, what)}, that of "
                    f"{self.first.about['id']} is {getattr(self.first, what)}; they must be equal."
                )

    def write_meta(
        self, failures: Sequence[Mapping[str, Any]], request: Mapping[str, Any], robot_type: str
    ) -> None:
        """Write the meta folder; the data and video files are closed by now."""
        assert self.first is not None
        cameras = {name: (size[0], size[1]) for name, size in self.first.about["cameras"].items()}
        info = {
            "codebase_version": layout.VERSION,
            "robot_type": robot_type,
            "total_episodes": len(self.episodes),
            "total_frames": self.frames,
            "total_tasks": len(self.tasks),
            "chunks_size": layout.CHUNK_FILES,
            "data_files_size_in_mb": layout.DATA_FILE_MB,
            "video_files_size_in_mb": layout.VIDEO_FILE_MB,
            "fps": self.fps,
            "splits": {"train": f"0:{len(self.episodes)}"},
            "data_path": layout.DATA_PATH,
            "video_path": layout.VIDEO_PATH if self.first.videos else None,
            "features": layout.features(self.first.kind, cameras, self.fps, self.first.images),
        }
        stats: dict[str, Stats] = {
            name: number_stats(np.concatenate([c[name] for c in self.columns])) for name in self.columns[0]
        }
        for camera, counts in self.histograms.items():
            stats[layout.IMAGE_PREFIX + camera] = image_stats(joined(counts), self.frames)
        episodes = self.root / layout.EPISODES_PATH.format(chunk_index=0, file_index=0)
        episodes.parent.mkdir(parents=True)
        with episodes.open("wb") as file:
            pq.write_table(pa.Table.from_pylist(self.episodes), file, compression="zstd")
        with (self.root / layout.TASKS_PATH).open("wb") as file:
            pq.write_table(_task_table(self.tasks), file)
        write_synced(self.root / layout.STATS_PATH, _json(stats))
        write_synced(self.root / layout.INFO_PATH, _json(info))
        files = sorted(p for p in self.root.rglob("*") if p.is_file())
        notes = {
            "format": 1,
            "request": request,
            "episodes": self.notes,
            "failed": list(failures),
            "sha256": {str(p.relative_to(self.root)): sha256(p) for p in files},
        }
        write_synced(self.root / layout.HEEDFUL_PATH, _json(notes))


def _json(content: object) -> bytes:
    return json.dumps(content, indent=2, allow_nan=False).encode()


def sha256(path: Path) -> str:
    """Return the SHA-256 checksum of the file at ``path``."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _task_table(tasks: Mapping[str, int]) -> pa.Table:
    """Return the tasks as pandas would write them: the task string is the index."""

    def column(name: str, pandas_type: str, numpy_type: str) -> dict[str, Any]:
        return {
            "name": name,
            "field_name": name,
            "pandas_type": pandas_type,
            "numpy_type": numpy_type,
            "metadata": None,
        }

    about = {
        "index_columns": ["task"],
        "column_indexes": [
            {
                "name": None,
                "field_name": None,
                "pandas_type": "unicode",
                "numpy_type": "object",
                "metadata": {"encoding": "UTF-8"},
            }
        ],
        "columns": [column("task_index", "int64", "int64"), column("task", "unicode", "object")],
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.2.0",
    }
    table = pa.table({"task_index": list(tasks.values()), "task": list(tasks)})
    return table.replace_schema_metadata({b"pandas": json.dumps(about).encode()})
