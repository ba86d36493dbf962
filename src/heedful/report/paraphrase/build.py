"""Writes the paraphrase page's folder."""

from __future__ import annotations

from pathlib import Path

from heedful.report.page import render
from heedful.report.paraphrase.context import page_context
from heedful.report.paraphrase.material import ParaphraseMaterial
from heedful.report.site import publish

TEMPLATE = "paraphrase.html.j2"


def build(material: ParaphraseMaterial, out: Path) -> Path:
    """Write the page to the folder ``out`` and return its path; ``site`` says how.

    Raises:
        UserError: ``out`` holds something else, or it cannot be written.
    """
    return publish(out, lambda _: render(page_context(material), TEMPLATE))
