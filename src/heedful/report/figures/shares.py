"""Shares with their intervals, one a row, on a line from 0 to 100 %."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from heedful.report import words
from heedful.report.svg import BLUE, Canvas
from heedful.spec.rollout import Estimate


def share_rows(
    rows: Sequence[tuple[str, Estimate | None]],
    key: str,
    title: str,
    *,
    reference: float | None = None,
    ends: tuple[str, str] = ("0 %", "100 %"),
) -> Markup:
    """Return one dot with its interval a row, 340 px wide.

    Args:
        rows: Label and share; ``None`` or a share without value is written as not measured.
        key: Unique within the page.
        title: What is shared out.
        reference: A share to compare with, drawn as a dashed line.
        ends: Words under the two ends of the axis.
    """
    width, left, right, top, row = 340.0, 104.0, 286.0, 8.0, 26.0
    bottom = top + row * len(rows)
    said = "; ".join(f"{name}: {words.percent(e.value if e else None)}" for name, e in rows)
    canvas = Canvas(key, width, bottom + 22, title, said)

    def x(share: float) -> float:
        return left + (right - left) * share

    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        canvas.line(x(tick), top, x(tick), bottom, opacity=0.14)
    if reference is not None:
        canvas.line(x(reference), top, x(reference), bottom, dash="3 3", opacity=0.7)
    canvas.text(left, bottom + 15, ends[0], size=11, anchor="start", opacity=0.8)
    canvas.text(right, bottom + 15, ends[1], size=11, anchor="end", opacity=0.8)
    for i, (name, estimate) in enumerate(rows):
        y = top + row * (i + 0.5)
        canvas.text(left - 8, y + 4, name, size=12, anchor="end")
        if estimate is None or estimate.value is None:
            canvas.text((left + right) / 2, y + 4, "not measured", size=11, anchor="middle", opacity=0.7)
            continue
        if estimate.low is not None and estimate.high is not None:
            canvas.line(x(estimate.low), y, x(estimate.high), y, width=3, opacity=0.55)
        canvas.circle(x(estimate.value), y, 4.5, BLUE, stroke="#FFFFFF")
        canvas.text(width, y + 4, words.percent(estimate.value), size=12, anchor="end", bold=True)
    return canvas.markup()
