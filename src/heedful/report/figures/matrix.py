"""FDR of every factor (row) against every other (column)."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from heedful.report import words
from heedful.report.findings import PairFinding
from heedful.report.svg import DARK, GREY, Canvas, diverging, ink_on


def fdr_matrix(pairs: Sequence[PairFinding], factors: Sequence[str], key: str, *, policy: str = "") -> Markup:
    """Return the matrix; a positive cell says that the row's factor dominates the column's.

    Pairs that were not run stay empty; an undefined FDR is written as undefined.
    """
    left, top, cell_w, cell_h = 66.0, 30.0, 68.0, 48.0
    width, height = left + cell_w * len(factors), top + cell_h * len(factors) + 4
    canvas = Canvas(
        key,
        width,
        height,
        f"FDR of each factor against each other, {policy or 'the policy'}",
        "Positive: the row's factor dominates the column's.",
    )
    found = {(p.factor_1, p.factor_2): p for p in pairs}
    for j, name in enumerate(factors):
        canvas.text(left + cell_w * (j + 0.5), top - 9, name, size=13, anchor="middle", bold=True)
    for i, row in enumerate(factors):
        y = top + cell_h * i
        canvas.text(left - 8, y + cell_h / 2 + 4, row, size=13, anchor="end", bold=True)
        for j, column in enumerate(factors):
            x = left + cell_w * j
            if i == j:
                canvas.rect(x + 1, y + 1, cell_w - 2, cell_h - 2, GREY, opacity=0.18, radius=3)
                continue
            pair, sign = found.get((row, column)), 1.0
            if pair is None:
                pair, sign = found.get((column, row)), -1.0
            if pair is None:
                canvas.rect(
                    x + 1.5, y + 1.5, cell_w - 3, cell_h - 3, stroke=GREY, dash="2 3", radius=3, opacity=0.7
                )
                canvas.text(x + cell_w / 2, y + 28, "not run", size=11, anchor="middle", opacity=0.7)
                continue
            _cell(canvas, pair, sign, x, y, cell_w, cell_h)
    return canvas.markup()


def _cell(canvas: Canvas, pair: PairFinding, sign: float, x: float, y: float, w: float, h: float) -> None:
    value = pair.fdr.value
    if value is None:
        canvas.rect(x + 1.5, y + 1.5, w - 3, h - 3, stroke=GREY, radius=3)
        canvas.text(x + w / 2, y + h / 2 + 4, words.UNDEFINED, size=11, anchor="middle")
        return
    fill = diverging(sign * value)
    canvas.rect(x + 1, y + 1, w - 2, h - 2, fill, radius=3, tip=words.pair_evidence(pair))
    ink = ink_on(fill) if abs(value) > 0.02 else DARK
    canvas.text(x + w / 2, y + 23, words.fdr(sign * value), size=15, anchor="middle", bold=True, fill=ink)
    if pair.fdr.low is not None and pair.fdr.high is not None:
        low, high = sorted((sign * pair.fdr.low, sign * pair.fdr.high))
        short = f"{words.short_fdr(low)}, {words.short_fdr(high)}"
        canvas.text(x + w / 2, y + 38, short, size=10, anchor="middle", fill=ink)
