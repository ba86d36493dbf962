"""Writes the page of near and far failures: a folder that opens from disk."""

from __future__ import annotations

import json
from pathlib import Path

from heedful.report.failures.context import page_context
from heedful.report.failures.material import Material
from heedful.report.failures.summary import summary, table
from heedful.report.page import render
from heedful.report.site import publish


def build(material: Material, out: Path) -> Path:
    """Write the page to the folder ``out`` and return its path.

    Beside it: ``failures.csv``, one row a failure, and ``failures.json``, everything unrounded.

    Raises:
        UserError: ``out`` holds something else, or it cannot be written.
    """

    def page_of(folder: Path) -> str:
        (folder / "failures.csv").write_text(table(material), encoding="utf-8")
        text = json.dumps(summary(material), indent=1, ensure_ascii=False, allow_nan=False)
        (folder / "failures.json").write_text(text, encoding="utf-8")
        return render(page_context(material), "failures.html.j2")

    return publish(out, page_of)
