"""Writes the report's folder: one page, its videos, its figures as files."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from heedful.report.context import VideoView, page_context
from heedful.report.material import EncoderResult, Material, Training, Video
from heedful.report.page import render
from heedful.report.posters import write_poster
from heedful.report.site import publish
from heedful.spec.errors import UserError
from heedful.store.run_folder import RunFolder


def load(
    folder: RunFolder,
    *,
    name: str = "",
    known_answer: Mapping[str, Any] | None = None,
    videos: Iterable[Video] = (),
    trainings: Iterable[Training] = (),
    encoders: Iterable[EncoderResult] = (),
    made_at: str = "",
    commands: Iterable[str] = (),
) -> Material:
    """Return the report's material from a judged run folder and from what is given with it.

    Raises:
        UserError: The run has not been judged, or its files are damaged.
    """
    return Material(
        name=name or folder.path.resolve().name,
        metrics=folder.metrics(),
        known_answer=known_answer,
        spec=folder.spec,
        lock=folder.lock(),
        rows=tuple(folder.rows()),
        videos=tuple(videos),
        trainings=tuple(trainings),
        encoders=tuple(encoders),
        made_at=made_at,
        commands=tuple(commands),
    )


def build(material: Material, out: Path) -> Path:
    """Write the report to the folder ``out`` and return the path of its page; ``site`` says how.

    Raises:
        UserError: A video is missing or damaged, ``out`` holds something else, or it cannot be
            written.
    """
    return publish(out, lambda fresh: render(page_context(material, _copied(material.videos, fresh))))


def _copied(videos: Iterable[Video], folder: Path) -> list[VideoView]:
    """Copy ``videos`` into ``folder`` and return them with their addresses in the page."""
    views: list[VideoView] = []
    for i, video in enumerate(videos):
        if not video.path.is_file():
            raise UserError(f"The report's video {video.path} does not exist.")
        slug = re.sub(r"[^a-z0-9]+", "-", f"{video.pair} {video.label}".lower()).strip("-")
        href = f"videos/{i:02d}-{slug}{video.path.suffix}"
        poster = str(Path(href).with_suffix(".jpg"))
        (folder / "videos").mkdir(exist_ok=True)
        shutil.copyfile(video.path, folder / href)
        write_poster(folder / href, folder / poster)
        views.append(VideoView(video, href, poster))
    return views
