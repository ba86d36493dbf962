"""The page of a closed loop."""

from __future__ import annotations

from pathlib import Path

from heedful.report.collection.build import build_mend
from heedful.store.findings_file import MEND
from heedful.workflows.report_wish import now


def mend_report(folder: Path) -> Path:
    """Write the page of the closed loop in ``folder`` and return it."""
    return build_mend(MEND.read(folder), folder / "report", name=folder.resolve().name, made_at=now())
