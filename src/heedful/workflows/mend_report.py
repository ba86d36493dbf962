"""The page of a closed loop."""

from __future__ import annotations

from pathlib import Path

from heedful.report.collection.build import build_mend
from heedful.store.mend_file import read_mend
from heedful.workflows.report_wish import now


def mend_report(folder: Path) -> Path:
    """Write the page of the closed loop in ``folder`` and return it."""
    return build_mend(read_mend(folder), folder / "report", name=folder.resolve().name, made_at=now())
