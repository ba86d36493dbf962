"""The meta folder of a dataset, read with care."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from heedful.spec.errors import UserError
from heedful.store.datasets import layout
from heedful.store.datasets.meta_values import (
    check_episodes,
    check_indices,
    check_info,
    check_notes,
    unreadable,
)
from heedful.store.json_file import read_json


@dataclass(frozen=True)
class Meta:
    """Content of ``meta/``.

    Attributes:
        root: The dataset.
        info: ``info.json``.
        stats: ``stats.json``; empty where there is none, which the format allows.
        tasks: Task string -> task index.
        episodes: One row an episode, by episode index, without its statistics.
        notes: ``heedful.json``; empty in a dataset that heedful did not write.
    """

    root: Path
    info: Mapping[str, Any]
    stats: Mapping[str, Any]
    tasks: Mapping[str, int]
    episodes: list[dict[str, Any]]
    notes: Mapping[str, Any]

    @property
    def fps(self) -> int:
        """Frames per second."""
        return int(self.info["fps"])

    @property
    def views(self) -> dict[str, str]:
        """Camera -> the feature with its images; a camera is called like it, without the usual prefix."""
        visual = [name for name, f in self.info["features"].items() if f["dtype"] in ("video", "image")]
        return {name.removeprefix(layout.IMAGE_PREFIX): name for name in visual}

    def is_video(self, camera: str) -> bool:
        """Return whether the images of ``camera`` are in video files, not inside the parquet files."""
        return bool(self.info["features"][self.views[camera]]["dtype"] == "video")

    @property
    def cameras(self) -> dict[str, tuple[int, int]]:
        """Camera -> height and width in px."""
        return {camera: _size(self.info["features"][name]) for camera, name in self.views.items()}

    @property
    def data_files(self) -> list[Path]:
        """The parquet files of frames, in the order of their episodes."""
        return list(dict.fromkeys(self.data_path(episode) for episode in self.episodes))

    def data_path(self, episode: Mapping[str, Any]) -> Path:
        """Return the parquet file that holds ``episode``."""
        place = {k: episode[f"data/{k}"] for k in ("chunk_index", "file_index")}
        return self.root / str(self.info["data_path"]).format(**place)

    def video_path(self, episode: Mapping[str, Any], camera: str) -> Path:
        """Return the video file that shows ``episode`` from ``camera``."""
        key = self.views[camera]
        place = {k: episode[f"videos/{key}/{k}"] for k in ("chunk_index", "file_index")}
        return self.root / str(self.info["video_path"]).format(video_key=key, **place)

    def video_start(self, episode: Mapping[str, Any], camera: str) -> int:
        """Return the frame of its video file at which ``episode`` begins."""
        seconds = float(episode[f"videos/{self.views[camera]}/from_timestamp"])
        return round(seconds * self.fps)


def read_meta(root: str | Path) -> Meta:
    """Return the meta folder of the dataset at ``root``.

    Raises:
        UserError: No dataset there, another version, or a damaged file.
    """
    root = Path(root)
    if not (root / layout.INFO_PATH).exists():
        if (root / ".staging").exists():
            raise UserError(f"The dataset {root} is unfinished; run the same command again that began it.")
        raise UserError(f"There is no dataset at {root} (no {layout.INFO_PATH}).")
    place = root / layout.INFO_PATH
    info = read_json(place)
    version = info.get("codebase_version")
    if version != layout.VERSION:
        raise UserError(f"The dataset {root} has version {version}; {layout.VERSION} is needed.")
    with unreadable(str(place)):
        check_info(info, str(place))
    files = sorted((root / "meta" / "episodes").glob("*/*.parquet"))
    if not files:
        raise UserError(f"{root / 'meta' / 'episodes'} is missing or empty.")
    rows = [row for file in files for row in _episode_rows(file)]
    rows.sort(key=lambda row: int(row["episode_index"]))
    filmed = [name for name, feature in info["features"].items() if feature["dtype"] == "video"]
    where = str(root / "meta" / "episodes")
    with unreadable(where):
        check_episodes(rows, filmed, where)
    notes, stats = root / layout.HEEDFUL_PATH, root / layout.STATS_PATH
    noted = read_json(notes) if notes.exists() else {}
    check_notes(noted, str(notes))
    return Meta(
        root=root,
        info=info,
        stats=read_json(stats) if stats.exists() else {},
        tasks=_tasks(root / layout.TASKS_PATH),
        episodes=rows,
        notes=noted,
    )


def _episode_rows(file: Path) -> list[dict[str, Any]]:
    """Return the rows of one file of ``meta/episodes``, without their statistics."""
    columns = [name for name in column_names(file) if not name.startswith("stats/")]
    lacking = [name for name in ("episode_index", "tasks") if name not in columns]
    if lacking:
        raise UserError(f"{file} lacks the column {lacking[0]}.")
    table = read_table(file, columns)
    found = {
        name: values_of(column, f"{file}: {name}")
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    check_indices(found["episode_index"], f"{file}: episode_index")
    found["tasks"] = [[tasks] if isinstance(tasks, str) else tasks for tasks in found["tasks"]]
    return [dict(zip(found, values, strict=True)) for values in zip(*found.values(), strict=True)]


def read_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the parquet table at ``path``, or only ``columns`` of it."""
    with _readable(path):
        table = pq.ParquetFile(path).read(columns, use_threads=False)
    lacking = [name for name in columns or () if name not in table.column_names]
    if lacking:
        raise UserError(f"{path} lacks the column {lacking[0]}.")
    return table


def values_of(column: pa.ChunkedArray, where: str) -> list[Any]:
    """Return the values of ``column``; times are texts, since Python's own do not reach nanoseconds."""
    with unreadable(where):
        kept = column.cast(pa.string()) if pa.types.is_temporal(column.type) else column
        values: list[Any] = kept.to_pylist()
        return values


def column_names(path: Path) -> list[str]:
    """Return the names of the columns of the parquet file at ``path``."""
    with _readable(path):
        return list(pq.read_schema(path).names)


def read_in_parts(path: Path, column: str, rows: int = 64) -> Iterator[list[Any]]:
    """Yield the values of ``column`` of the parquet file at ``path``, so many ``rows`` at a time."""
    if column not in column_names(path):
        raise UserError(f"{path} lacks the column {column}.")
    with _readable(path), unreadable(f"{path}: {column}"):
        for batch in pq.ParquetFile(path).iter_batches(rows, columns=[column], use_threads=False):
            yield batch.column(0).to_pylist()


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise UserError(f"{path} is missing.") from error
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{path} is damaged ({' '.join(str(error).split())}).") from error


def _tasks(path: Path) -> dict[str, int]:
    """Return task string -> task index; the strings are the table's index, whatever that is called."""
    table = read_table(path)
    names = [name for name in table.column_names if name != "task_index"]
    if len(names) > 1:
        names = [name for name in names if name in ("task", "__index_level_0__")]
    if len(names) != 1 or "task_index" not in table.column_names:
        raise UserError(f"{path} must hold task strings and their task_index.")
    tasks, indices = (values_of(table[name], f"{path}: {name}") for name in (names[0], "task_index"))
    check_indices(indices, f"{path}: task_index")
    for task in tasks:
        if not isinstance(task, str):
            raise UserError(f"{path} has the task {task!r}; tasks must be texts.")
    return dict(zip(tasks, indices, strict=True))


def _size(feature: Mapping[str, Any]) -> tuple[int, int]:
    """Return height and width of a feature of images, in whichever order it names its axes."""
    shape, names = feature["shape"], feature.get("names")
    if isinstance(names, list) and {"height", "width"} <= set(names):
        return int(shape[names.index("height")]), int(shape[names.index("width")])
    return int(shape[0]), int(shape[1])
