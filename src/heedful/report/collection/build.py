"""Writes the pages about what to collect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heedful.report.collection.context import comparison_context
from heedful.report.collection.grid_context import grid_context
from heedful.report.collection.mend_context import mend_context
from heedful.report.page import render
from heedful.report.site import publish


def build_comparison(found: Mapping[str, Any], out: Path, *, name: str, made_at: str = "") -> Path:
    """Write the page of ``found``, the content of ``comparison.json``, to ``out`` and return it."""
    context = comparison_context(found, name=name, made_at=made_at)
    return publish(out, lambda _: render(context, "compare.html.j2"))


def build_mend(found: Mapping[str, Any], out: Path, *, name: str, made_at: str = "") -> Path:
    """Write the page of ``found``, the content of ``mend.json``, to ``out`` and return it."""
    context = mend_context(found, name=name, made_at=made_at)
    return publish(out, lambda _: render(context, "mend.html.j2"))


def build_grid(
    metrics: Mapping[str, Any], out: Path, *, name: str, made_at: str = "", commands: Sequence[str] = ()
) -> Path:
    """Write the page of a run of suite grid to ``out`` and return it.

    Args:
        metrics: The content of its ``metrics.json``.
        out: Folder of the report.
        name: What the run is called.
        made_at: When the page was made, as it should be printed.
        commands: What to type to make the run again.
    """
    context = grid_context(metrics, name=name, made_at=made_at, commands=commands)
    return publish(out, lambda _: render(context, "grid.html.j2"))
