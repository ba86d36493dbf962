"""The meta folder of a dataset, read with care."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from heedful.spec.errors import UserError
from heedful.store.datasets import layout
from heedful.store.json_file import read_json


@dataclass(frozen=True)
class Meta:
    """Content of ``meta/``.

    Attributes:
        root: The dataset.
        info: ``info.json``.
        stats: ``stats.json``.
        tasks: Task string -> task index.
        episodes: One row an episode, by episode index.
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
    def cameras(self) -> dict[str, tuple[int, int]]:
        """Camera -> height and width in px."""
        found = {}
        for name, feature in self.info["features"].items():
            if feature["dtype"] == "video":
                height, width = feature["shape"][:2]
                found[name.removeprefix(layout.IMAGE_PREFIX)] = (height, width)
        return found

    def data_path(self, episode: Mapping[str, Any]) -> Path:
        """Return the parquet file that holds ``episode``."""
        place = {k: episode[f"data/{k}"] for k in ("chunk_index", "file_index")}
        return self.root / str(self.info["data_path"]).format(**place)

    def video_path(self, episode: Mapping[str, Any], camera: str) -> Path:
        """Return the video file that shows ``episode`` from ``camera``."""
        key = layout.IMAGE_PREFIX + camera
        place = {k: episode[f"videos/{key}/{k}"] for k in ("chunk_index", "file_index")}
        return self.root / str(self.info["video_path"]).format(video_key=key, **place)

    def video_start(self, episode: Mapping[str, Any], camera: str) -> int:
        """Return the frame of its video file at which ``episode`` begins."""
        seconds = float(episode[f"videos/{layout.IMAGE_PREFIX}{camera}/from_timestamp"])
        return round(seconds * self.fps)


def read_meta(root: str | Path) -> Meta:
    """Return the meta folder of the dataset at ``root``.

    Raises:
        UserError: No dataset there, another version, or a damaged file.
    """
    root = Path(root)
    if not (root / layout.INFO_PATH).exists():
        if (root / ".staging").exists():
            raise UserError(f"The dataset {root} is unfinished; run the same `heedful collect` again.")
        raise UserError(f"There is no dataset at {root} (no {layout.INFO_PATH}).")
    info = read_json(root / layout.INFO_PATH)
    version = info.get("codebase_version")
    if version != layout.VERSION:
        raise UserError(f"The dataset {root} has version {version}; {layout.VERSION} is needed.")
    files = sorted((root / "meta" / "episodes").glob("*/*.parquet"))
    if not files:
        raise UserError(f"{root / 'meta' / 'episodes'} is missing or empty.")
    wanted = ["episode_index", "tasks", "length", "dataset_from_index", "dataset_to_index"]
    rows: list[dict[str, Any]] = []
    for file in files:
        table = read_table(file)
        lacking = [name for name in wanted if name not in table.column_names]
        if lacking:
            raise UserError(f"{file} lacks the column {lacking[0]}.")
        rows += table.select([n for n in table.column_names if not n.startswith("stats/")]).to_pylist()
    tasks = read_table(root / layout.TASKS_PATH)
    names = [n for n in tasks.column_names if n != "task_index"]
    if len(names) != 1 or "task_index" not in tasks.column_names:
        raise UserError(f"{root / layout.TASKS_PATH} must hold task strings and their task_index.")
    indices = dict(zip(tasks[names[0]].to_pylist(), tasks["task_index"].to_pylist(), strict=True))
    notes = root / layout.HEEDFUL_PATH
    try:
        return Meta(
            root=root,
            info=info,
            stats=read_json(root / layout.STATS_PATH),
            tasks=indices,
            episodes=sorted(rows, key=lambda row: int(row["episode_index"])),
            notes=read_json(notes) if notes.exists() else {},
        )
    except (KeyError, TypeError) as error:
        raise UserError(f"The dataset {root} has damaged meta files: {error}.") from error


def read_table(path: Path) -> pa.Table:
    """Return the parquet table at ``path``."""
    try:
        return pq.ParquetFile(path).read(use_threads=False)
    except FileNotFoundError as error:
        raise UserError(f"{path} is missing.") from error
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{path} is damaged ({' '.join(str(error).split())}).") from error
