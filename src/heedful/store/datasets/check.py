"""A dataset checked: everything that is written down against everything that is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heedful.spec.errors import UserError
from heedful.store.datasets import layout
from heedful.store.datasets.labels import tasks_of
from heedful.store.datasets.meta import Meta, read_in_parts, read_meta, read_table
from heedful.store.datasets.meta_values import stated, unreadable
from heedful.store.datasets.pictures import check_picture
from heedful.store.datasets.read import column_values
from heedful.store.datasets.statistics import NAMES, number_stats
from heedful.store.datasets.summary import DatasetSummary
from heedful.store.datasets.write import sha256
from heedful.store.video import count_decoded, measure_mp4

_OURS = {"timestamp", *layout.INDEX_COLUMNS, *(name for kind in layout.COLUMNS.values() for name in kind)}
"""Columns that heedful writes, in which every number is finite."""


def check_dataset(path: str | Path) -> DatasetSummary:
    """Check the dataset at ``path`` and return what is in it.

    Checked are: checksums (of a dataset that heedful wrote), counts, shapes, indices, time
    stamps, tasks, statistics of the numbers, and of every video its size, rate and frames, of every
    image its size. Videos and images without a checksum are decoded, one picture at a time.

    Raises:
        UserError: Something is missing, damaged or does not fit; names the file and both values.
    """
    meta = read_meta(path)
    if not meta.episodes:
        raise UserError(f"The dataset {path} has no episodes.")
    with unreadable(f"The dataset {path}"):
        proven = _check_files(meta)
        _check_episodes(meta)
        remarks = _check_frames(meta)
        _check_images(meta, proven)
    episodes = meta.notes.get("episodes", [])
    failed = meta.notes.get("failed", [])
    return DatasetSummary(
        path=Path(path),
        episodes=len(meta.episodes),
        frames=int(meta.info["total_frames"]),
        fps=meta.fps,
        robot_type=str(meta.info.get("robot_type")),
        cameras=meta.cameras,
        features={name: tuple(f["shape"]) for name, f in meta.info["features"].items()},
        tasks=dict(Counter(tasks_of(meta.episodes))),
        attempts=_attempts([*episodes, *failed]),
        failed=len(failed),
        size_bytes=sum(p.stat().st_size for part in ("data", "videos", "meta") for p in _files(meta, part)),
        remarks=tuple(remarks),
    )


def _attempts(notes: Sequence[Mapping[str, Any]]) -> int | None:
    found = [int(note["attempts"]) for note in notes if "attempts" in note]
    return sum(found) if found else None


def _files(meta: Meta, part: str) -> list[Path]:
    return [p for p in (meta.root / part).rglob("*") if p.is_file()]


def _expect(what: str, found: Any, wanted: Any) -> None:
    if found != wanted:
        raise UserError(f"{what} is {found}, expected {wanted}.")


def _check_files(meta: Meta) -> set[Path]:
    """Check the checksums that heedful wrote; return the files that they prove to be whole."""
    proven = set()
    for name, checksum in meta.notes.get("sha256", {}).items():
        path = meta.root / name
        if not path.exists():
            raise UserError(f"{path} is missing.")
        if sha256(path) != checksum:
            raise UserError(f"{path} is damaged: it is not what was written (SHA-256).")
        proven.add(path)
    return proven


def _check_episodes(meta: Meta) -> None:
    where = f"{meta.root / 'meta/episodes'}"
    _expect(f"{where}: number of episodes", len(meta.episodes), meta.info["total_episodes"])
    _expect(f"{meta.root / layout.TASKS_PATH}: number of tasks", len(meta.tasks), meta.info["total_tasks"])
    end = 0
    for i, episode in enumerate(meta.episodes):
        _expect(f"{where}: index of episode {i}", episode["episode_index"], i)
        _expect(f"{where}: episode {i}: dataset_from_index", episode["dataset_from_index"], end)
        end += episode["length"]
        _expect(f"{where}: episode {i}: dataset_to_index", episode["dataset_to_index"], end)
        for task in episode["tasks"]:
            if task not in meta.tasks:
                raise UserError(f"{where}: episode {i}: task {task!r} is not in {layout.TASKS_PATH}.")
    _expect(f"{meta.root / layout.INFO_PATH}: total_frames", meta.info["total_frames"], end)


def _check_frames(meta: Meta) -> list[str]:
    """Check the numbers of all frames; return remarks on what is odd in columns of others."""
    remarks = []
    features = {k: f for k, f in meta.info["features"].items() if _is_numbers(f)}
    columns = list(dict.fromkeys([*features, "task_index"]))
    whole = pa.concat_tables([read_table(file, columns) for file in meta.data_files])
    where = str(meta.root / "data")
    _expect(f"{where}: number of frames", whole.num_rows, meta.info["total_frames"])
    lengths = np.array([episode["length"] for episode in meta.episodes])
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    steps = np.arange(whole.num_rows) - starts
    several = np.repeat([len(episode["tasks"]) > 1 for episode in meta.episodes], lengths)
    tasks = np.repeat([meta.tasks[episode["tasks"][0]] for episode in meta.episodes], lengths)
    wanted = {
        "index": np.arange(whole.num_rows),
        "episode_index": np.repeat(np.arange(len(lengths)), lengths),
        "frame_index": steps,
        "timestamp": steps / meta.fps,
        "task_index": np.where(several, column_values(whole, "task_index"), tasks),
    }
    for name, feature in features.items():
        with unreadable(f"{where}: {name}"):
            values = column_values(whole, name)
            odd = np.count_nonzero(~np.isfinite(values.astype(np.float64)))
        width = int(np.prod(feature["shape"]))
        _expect(f"{where}: width of {name}", 1 if values.ndim == 1 else values.shape[1], width)
        if odd and name in _OURS:
            raise UserError(f"{where}: {name} has numbers that are not finite.")
        if odd:
            remarks.append(f"{name} has {odd} numbers that are not finite; its statistics are not checked.")
            continue
        if name in wanted:
            wrong = np.flatnonzero(np.abs(values - wanted[name]) > 1e-4)
            if len(wrong):
                row = wrong[0]
                _expect(f"{where}: {name} of frame {row}", values[row].item(), wanted[name][row].item())
        _check_stats(meta, name, number_stats(values))
    _check_several_tasks(meta, column_values(whole, "task_index"))
    return remarks


def _check_several_tasks(meta: Meta, task_index: NDArray[Any]) -> None:
    """Check the frames of episodes with several tasks: any of these may come in any frame."""
    for i, episode in enumerate(meta.episodes):
        own = {meta.tasks[task] for task in episode["tasks"]}
        part = task_index[episode["dataset_from_index"] : episode["dataset_to_index"]]
        other = sorted(set(part.tolist()) - own)
        if other:
            raise UserError(
                f"{meta.root / 'data'}: task_index {other[0]} occurs in episode {i}, "
                f"whose tasks have {sorted(own)}."
            )


def _is_numbers(feature: Mapping[str, Any]) -> bool:
    """Return whether a frame of ``feature`` is one number or a row of them."""
    return feature["dtype"].startswith(("float", "int", "uint", "bool")) and len(feature["shape"]) == 1


def _check_stats(meta: Meta, name: str, wanted: dict[str, Any]) -> None:
    where = meta.root / layout.STATS_PATH
    found = stated(meta.stats, name, str(where))
    if meta.notes and any(key not in found for key in NAMES):  # others may leave some or all out
        raise UserError(f"{where}: {name} lacks some of {', '.join(NAMES)}.")
    for key in ("min", "max", "mean", "std", "count"):
        if key not in found:
            continue
        given, exact = found[key], np.asarray(wanted[key], dtype=float)
        if given.shape != exact.shape or not np.allclose(given, exact, rtol=1e-3, atol=1e-4):
            raise UserError(f"{where}: {key} of {name} is {given.tolist()}, the data give {exact.tolist()}.")


def _check_images(meta: Meta, proven: Set[Path]) -> None:
    for camera in meta.cameras:
        if meta.is_video(camera):
            _check_videos(meta, camera, proven)
        else:
            _check_pictures(meta, camera, proven)
        stats = stated(meta.stats, meta.views[camera], str(meta.root / layout.STATS_PATH))
        for name in NAMES if meta.notes else ():
            shape = np.shape(stats.get(name, ()))
            _expect(
                f"{meta.root / layout.STATS_PATH}: shape of {name} of camera {camera}",
                list(shape),
                [1] if name == "count" else [3, 1, 1],
            )


def _check_videos(meta: Meta, camera: str, proven: Set[Path]) -> None:
    height, width = meta.cameras[camera]
    ends: dict[Path, int] = {}
    for i, episode in enumerate(meta.episodes):
        path = meta.video_path(episode, camera)
        start = meta.video_start(episode, camera)
        _expect(f"{path}: first frame of episode {i}", start, ends.get(path, 0))
        ends[path] = start + int(episode["length"])
    for path, frames in ends.items():
        found, found_height, found_width, fps = measure_mp4(path)
        _expect(f"{path}: number of frames", found, frames)
        _expect(f"{path}: size", [found_height, found_width], [height, width])
        if abs(fps - meta.fps) > 0.01:
            raise UserError(f"{path}: rate is {fps} fps, expected {meta.fps}.")
        if path not in proven:
            _expect(f"{path}: number of frames that can be decoded", count_decoded(path), frames)


def _check_pictures(meta: Meta, camera: str, proven: Set[Path]) -> None:
    row = 0
    for path in meta.data_files:
        for part in read_in_parts(path, meta.views[camera]):
            for entry in part:
                where = f"{path}: {meta.views[camera]} of frame {row}"
                file = entry.get("bytes") if isinstance(entry, dict) else entry
                if not file:
                    raise UserError(f"{where} is missing.")
                if not isinstance(file, bytes):
                    raise UserError(f"{where} is {str(file)[:40]!r}; it must hold the bytes of an image.")
                check_picture(file, meta.cameras[camera], path not in proven, where)
                row += 1
