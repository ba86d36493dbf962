"""Where things are in a LeRobot v3.0 dataset, and what its features are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

VERSION: Final = "v3.0"
DATA_PATH: Final = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH: Final = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
EPISODES_PATH: Final = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
TASKS_PATH: Final = "meta/tasks.parquet"
INFO_PATH: Final = "meta/info.json"
STATS_PATH: Final = "meta/stats.json"
HEEDFUL_PATH: Final = "meta/heedful.json"
"""Not LeRobot's: what was asked for, attempts, checksums of the files."""

CHUNK_FILES: Final = 1000
DATA_FILE_MB: Final = 100
VIDEO_FILE_MB: Final = 200

_JOINTS = [f"joint_{i}" for i in range(1, 8)]
_POSE = ["x", "y", "z", "roll", "pitch", "yaw"]


@dataclass(frozen=True)
class Column:
    """A feature of numbers.

    Attributes:
        field: What the numbers are called before they are in a dataset.
        dtype: How the dataset keeps them.
        names: One for every number of a frame; ``None``: a single number without a name.
    """

    field: str
    dtype: Literal["float32", "int64", "bool"]
    names: tuple[str, ...] | None = None

    @property
    def shape(self) -> list[int]:
        """The shape of one frame."""
        return [1 if self.names is None else len(self.names)]


PHASE: Final = "annotation.phase"

_BOTH: Mapping[str, Column] = {
    "observation.state": Column("joint_state", "float32", (*_JOINTS, "gripper_opening")),
    "observation.ee_state": Column("ee_state", "float32", (*_POSE, "finger_left", "finger_right")),
    "action": Column("actions", "float32", (*_JOINTS, "gripper")),
}
_ROLLOUT: Mapping[str, Column] = {**_BOTH, "next.done": Column("done", "bool")}

Kind = Literal["demonstration", "rollout", "scored_rollout"]
"""What the episodes of a dataset are; all of one dataset are of one kind."""

COLUMNS: Mapping[Kind, Mapping[str, Column]] = {
    "demonstration": {
        **_BOTH,
        "annotation.keypose": Column("keypose", "float32", ("x", "y", "z", "yaw", "gripper")),
        PHASE: Column("phase", "int64"),
    },
    "rollout": _ROLLOUT,
    "scored_rollout": {
        **_ROLLOUT,
        "next.reward": Column("reward", "float32"),
        "next.success": Column("success", "bool"),
    },
}
"""Kind -> feature -> its numbers, in the order in which a dataset keeps them."""

Images = Literal["video", "png"]
"""How images are kept: as H.264 video, or without loss as PNG files inside the parquet files."""

INDEX_COLUMNS: Final = ("frame_index", "episode_index", "index", "task_index")
IMAGE_PREFIX: Final = "observation.images."


def file_place(number: int) -> dict[str, int]:
    """Return chunk and file index of the ``number``-th file of its kind."""
    return {"chunk_index": number // CHUNK_FILES, "file_index": number % CHUNK_FILES}


def features(
    kind: Kind, cameras: Mapping[str, tuple[int, int]], fps: int, images: Images = "video"
) -> dict[str, Any]:
    """Return the ``features`` of ``info.json``.

    Args:
        kind: What the episodes are.
        cameras: Name -> height and width in px.
        fps: Frames per second.
        images: How they are kept.
    """
    found: dict[str, Any] = {}
    for name, (height, width) in cameras.items():
        found[IMAGE_PREFIX + name] = {
            "dtype": "video" if images == "video" else "image",
            "shape": [height, width, 3],
            "names": ["height", "width", "channels"],
        }
        if images == "video":
            found[IMAGE_PREFIX + name]["info"] = {
                "video.height": height,
                "video.width": width,
                "video.codec": "h264",
                "video.pix_fmt": "yuv420p",
                "video.is_depth_map": False,
                "video.fps": fps,
                "video.channels": 3,
                "has_audio": False,
            }
    for feature, column in COLUMNS[kind].items():
        names = None if column.names is None else list(column.names)
        found[feature] = {"dtype": column.dtype, "shape": column.shape, "names": names}
    found["timestamp"] = {"dtype": "float32", "shape": [1], "names": None}
    for name in INDEX_COLUMNS:
        found[name] = {"dtype": "int64", "shape": [1], "names": None}
    return found
