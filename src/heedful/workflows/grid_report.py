"""The page of a run of suite grid; of a comparison of strategies where the folder holds one."""

from __future__ import annotations

from pathlib import Path

from heedful.report.collection.build import build_comparison, build_grid
from heedful.store.findings_file import COMPARISON
from heedful.store.run_folder import RunFolder
from heedful.workflows.report_wish import Wish, now


def grid_report(folder: RunFolder, wish: Wish) -> Path:
    """Write the page of a judged run of suite grid and return it."""
    name, out = folder.path.resolve().name, folder.report_path.parent
    if COMPARISON.there(folder.path):
        return build_comparison(COMPARISON.read(folder.path), out, name=name, made_at=now())
    return build_grid(folder.metrics(), out, name=name, made_at=now(), commands=wish.commands)
