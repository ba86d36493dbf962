"""What is in a dataset, fit to be printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class DatasetSummary:
    """What is in a dataset.

    Attributes:
        path: Its folder.
        episodes: How many.
        frames: Frames of all of them.
        fps: Frames per second.
        robot_type: As in ``info.json``.
        cameras: Name -> height and width in px.
        features: Feature -> its shape.
        tasks: Task string -> episodes of it.
        attempts: Attempts behind the demonstrations, and those of the failed tasks; ``None``
            when `heedful collect` did not write it.
        failed: Tasks that no attempt achieved.
        size_bytes: All files.
        remarks: Sentences on what is odd in it and yet no fault.
    """

    path: Path
    episodes: int
    frames: int
    fps: int
    robot_type: str
    cameras: Mapping[str, tuple[int, int]]
    features: Mapping[str, tuple[int, ...]]
    tasks: Mapping[str, int]
    attempts: int | None
    failed: int
    size_bytes: int
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return a few lines for a terminal."""
        cameras = ", ".join(f"{name} {h}x{w}" for name, (h, w) in self.cameras.items())
        features = ", ".join(f"{name} {list(shape)}" for name, shape in self.features.items())
        what = "episodes" if self.attempts is None else "demonstrations"
        lines = [
            f"{self.path}: LeRobot v3.0, {self.robot_type}, {self.size_bytes / 1e6:.1f} MB",
            f"  {self.episodes} {what}, {self.frames} frames at {self.fps} Hz "
            f"({self.frames / self.fps / 60:.1f} min)",
            f"  cameras: {cameras}",
            f"  features: {features}",
        ]
        if self.attempts is not None:
            lines.append(f"  {self.attempts} attempts, {self.failed} tasks without success")
        lines.append(f"  {len(self.tasks)} tasks:")
        lines += [f"    {count:5d}  {task or '(no words)'}" for task, count in sorted(self.tasks.items())]
        lines += [f"  {remark}" for remark in self.remarks]
        return "\n".join(lines)
