"""A folder with one page: written whole, replacing only what heedful wrote."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from heedful.report.page import figures
from heedful.spec.errors import UserError
from heedful.store.disk import check_folder, disk_errors

PAGE = "index.html"
_MARK = '<meta name="generator" content="heedful report">'


def publish(out: Path, page_of: Callable[[Path], str]) -> Path:
    """Write a report to the folder ``out`` and return the path of its page.

    The folder can be moved, zipped or opened from disk: everything it shows lies in it. A
    report that is there already is replaced once the new one is complete.

    Args:
        out: The report's folder.
        page_of: Gets the fresh folder, puts into it what the page shows (videos, pictures), and
            returns the page. Its named figures are also written as files of their own.

    Raises:
        UserError: ``out`` holds something else, or it cannot be written.
    """
    out = out.resolve()
    check_place(out)
    fresh = out.with_name(f".{out.name}.new")
    try:
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        page = page_of(fresh)
        (fresh / PAGE).write_text(page, encoding="utf-8")
        for figure, drawing in figures(page):
            target = fresh / "figures" / f"{figure}.svg"
            target.parent.mkdir(exist_ok=True)
            target.write_text(drawing, encoding="utf-8")
        shutil.rmtree(out, ignore_errors=True)
        fresh.replace(out)
    except OSError as error:
        raise UserError(f"The report cannot be written to {out}: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return out / PAGE


def check_place(out: Path) -> None:
    """Refuse now, before the work, a place that a report could not be written to after it.

    Raises:
        UserError: ``out`` is neither absent, empty nor a report of ours, or cannot be written.
    """
    check_folder(out)
    with disk_errors(out):
        if not out.exists() or not any(out.iterdir()):
            return
    page = out / PAGE
    if not page.is_file() or _MARK not in page.read_text(encoding="utf-8", errors="replace")[:2000]:
        raise UserError(f"{out} is there and is no report of heedful; name another folder for the report.")
