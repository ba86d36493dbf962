"""One pair's grid: what happened in every combination of the two factors' values."""

from __future__ import annotations

from markupsafe import Markup

from heedful.report import words
from heedful.report.findings import CellFinding, Counts, PairFinding
from heedful.report.svg import BLUE, GREEN, GREY, Canvas, diverging, ink_on

_LABELS = ("overfit_1", "success", "neither", "overfit_2")


def cell_grid(pair: PairFinding, key: str, *, policy: str = "") -> Markup:
    """Return the grid, factor 1 down and factor 2 across.

    A conflict cell is coloured by its own FDR, says N1 : N2 and has a strip with the share
    of every label. A cell bound in training says the success rate in distribution.
    """
    rows, columns = pair.values_1, pair.values_2
    left, top, w, h = 62.0, 44.0, 50.0, 42.0
    width, height = left + w * len(columns), top + h * len(rows) + 2
    canvas = Canvas(
        key,
        width,
        height,
        f"{pair.factor_1} against {pair.factor_2}, cell by cell, {policy or 'the policy'}",
        "; ".join(_said(c, pair) for c in pair.cells),
    )
    canvas.text(left, 13, f"{pair.factor_2} →", size=11, opacity=0.8)
    canvas.text(left - 8, top - 10, f"{pair.factor_1} ↓", size=11, anchor="end", opacity=0.8)
    for j, value in enumerate(columns):
        canvas.text(left + w * (j + 0.5), top - 10, value, size=11.5, anchor="middle")
    conflict = {(c.value_1, c.value_2): c for c in pair.cells}
    arm = pair.in_distribution
    trained = {(c.value_1, c.value_2): c for c in arm.cells} if arm else {}
    bound = set(pair.bound) | set(trained)
    for i, row in enumerate(rows):
        y = top + h * i
        canvas.text(left - 8, y + h / 2 + 4, row, size=11.5, anchor="end")
        for j, column in enumerate(columns):
            x, at = left + w * j, (row, column)
            if at in bound:
                _trained(canvas, trained.get(at), x, y, w, h)
            elif at in conflict:
                _conflict(canvas, conflict[at], pair, x, y, w, h)
            else:
                canvas.rect(x + 2, y + 2, w - 4, h - 4, stroke=GREY, dash="2 3", radius=3, opacity=0.6)
    return canvas.markup()


def label_strip(counts: Counts, key: str, pair: PairFinding, *, width: float = 340.0) -> Markup:
    """Return one strip with the share of every label, for a whole pair."""
    canvas = Canvas(key, width, 16, "Shares of the labels", _shares(counts, pair))
    _strip(canvas, counts, 0, 1, width, 14)
    return canvas.markup()


def _trained(canvas: Canvas, cell: CellFinding | None, x: float, y: float, w: float, h: float) -> None:
    canvas.rect(x + 2, y + 2, w - 4, h - 4, stroke=GREEN, radius=3, stroke_width=2)
    canvas.text(x + w / 2, y + 17, "bound", size=9.5, anchor="middle", opacity=0.85)
    if cell is not None:
        share = words.percent(cell.counts.share("success"), 0)
        canvas.text(x + w / 2, y + 31, share, size=11.5, anchor="middle", bold=True)


def _conflict(
    canvas: Canvas, cell: CellFinding, pair: PairFinding, x: float, y: float, w: float, h: float
) -> None:
    value = cell.counts.fdr
    fill = diverging(value) if value is not None else "none"
    canvas.rect(
        x + 1,
        y + 1,
        w - 2,
        h - 2,
        fill,
        radius=3,
        tip=_said(cell, pair),
        stroke=GREY if value is None else "none",
    )
    ink = ink_on(fill) if value is not None else "currentColor"
    text = f"{cell.counts.overfit_1} : {cell.counts.overfit_2}" if value is not None else "undef."
    canvas.text(x + w / 2, y + 20, text, size=12, anchor="middle", fill=ink, bold=value is not None)
    canvas.rect(x + 4, y + h - 13, w - 8, 8, "#FFFFFF")
    _strip(canvas, cell.counts, x + 5, y + h - 12, w - 10, 6)


def _strip(canvas: Canvas, counts: Counts, x: float, y: float, w: float, h: float) -> None:
    fills = {"overfit_1": BLUE, "success": GREEN, "neither": GREY, "overfit_2": canvas.hatch}
    for label in _LABELS:
        share = counts.share(label) or 0.0
        if share:
            canvas.rect(x, y, w * share, h, fills[label])
        x += w * share


def _shares(counts: Counts, pair: PairFinding) -> str:
    return (
        f"{counts.overfit_1} followed {pair.factor_1}, {counts.overfit_2} followed {pair.factor_2}, "
        f"{counts.success} succeeded, {counts.neither} neither"
    )


def _said(cell: CellFinding, pair: PairFinding) -> str:
    return f"{cell.value_1} + {cell.value_2}: {_shares(cell.counts, pair)}"
