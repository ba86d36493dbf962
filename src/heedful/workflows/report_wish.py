"""What is asked of whatever writes the page of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from heedful.spec.progress import Progress
from heedful.store.run_folder import RunFolder


@dataclass(frozen=True)
class Wish:
    """How a page is to be made.

    Attributes:
        videos: Whether to render telling rollouts that have no video yet.
        commands: What was typed, or would make the run again.
        progress: Told after every video.
    """

    videos: bool
    commands: tuple[str, ...]
    progress: Progress


Page = Callable[[RunFolder, Wish], Path]
"""Writes the page of a judged run and returns it."""


def now() -> str:
    """Return the time that a page says it was made at."""
    return datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
