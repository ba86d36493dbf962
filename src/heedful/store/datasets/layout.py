"""Where things are in a LeRobot v3.0 dataset, and what its features are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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

COLUMNS: Mapping[str, tuple[str, list[str]]] = {
    "observation.state": ("joint_state", [*_JOINTS, "gripper_opening"]),
    "observation.ee_state": ("ee_state", [*_POSE, "finger_left", "finger_right"]),
    "action": ("actions", [*_JOINTS, "gripper"]),
    "annotation.keypose": ("keypose", ["x", "y", "z", "yaw", "gripper"]),
}
"""Feature -> (field of ``Demonstration``, names of its numbers); float32."""

PHASE: Final = "annotation.phase"
INDEX_COLUMNS: Final = ("frame_index", "episode_index", "index", "task_index")
IMAGE_PREFIX: Final = "observation.images."


def file_place(number: int) -> dict[str, int]:
    """Return chunk and file index of the ``number``-th file of its kind."""
    return {"chunk_index": number // CHUNK_FILES, "file_index": number % CHUNK_FILES}


def features(cameras: Mapping[str, tuple[int, int]], fps: int) -> dict[str, Any]:
    """Return the ``features`` of ``info.json``.

    Args:
        cameras: Name -> height and width in px.
        fps: Frames per second.
    """
    found: dict[str, Any] = {}
    for name, (height, width) in cameras.items():
        found[IMAGE_PREFIX + name] = {
            "dtype": "video",
            "shape": [height, width, 3],
            "names": ["height", "width", "channels"],
            "info": {
                "video.height": height,
                "video.width": width,
                "video.codec": "h264",
                "video.pix_fmt": "yuv420p",
                "video.is_depth_map": False,
                "video.fps": fps,
                "video.channels": 3,
                "has_audio": False,
            },
        }
    for feature, (_, names) in COLUMNS.items():
        found[feature] = {"dtype": "float32", "shape": [len(names)], "names": names}
    found[PHASE] = {"dtype": "int64", "shape": [1], "names": None}
    found["timestamp"] = {"dtype": "float32", "shape": [1], "names": None}
    for name in INDEX_COLUMNS:
        found[name] = {"dtype": "int64", "shape": [1], "names": None}
    return found
