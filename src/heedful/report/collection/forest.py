"""Differences with their intervals, one a row, and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from heedful.report.collection.findings import DifferenceFinding
from heedful.report.collection.words import short_verdict
from heedful.report.svg import BLUE, GREY, Canvas
from heedful.report.words import points, points_interval


def forest(
    differences: Sequence[DifferenceFinding],
    key: str,
    *,
    title: str,
    label: Callable[[DifferenceFinding], str],
    narrow: bool = False,
) -> Markup:
    """Return one row a difference: thick the clustered interval, thin the naive one.

    Args:
        differences: In the order of the rows.
        key: Unique within the page.
        title: What a screen reader calls the figure.
        label: What a row is called.
        narrow: Three lines a row in 340 px instead of one line.
    """
    names = max((len(label(d)) for d in differences), default=0)
    left = 12.0 if narrow else max(140.0, 7.3 * names + 16)
    width, right = (340.0, 328.0) if narrow else (left + 550, left + 300)
    top, row = 28.0, 68.0 if narrow else 30.0
    bottom = top + row * len(differences)
    said = "; ".join(
        f"{label(d)}: {points(d.value.value, sign=True)} {_ends(d)}, {short_verdict(d)}" for d in differences
    )
    canvas = Canvas(key, width, bottom + 24, title, said)
    reach = _reach(differences)

    def x(value: float) -> float:
        return (left + right) / 2 + (right - left) / 2 * max(-1.0, min(1.0, value / reach))

    canvas.text(left, 14, "← the second is better", size=11, opacity=0.8)
    canvas.text(right, 14, "the first is better →", size=11, anchor="end", opacity=0.8)
    if not narrow:
        canvas.text(width, 14, "points [95 % interval], verdict", size=11, anchor="end", opacity=0.8)
    for tick in (-1.0, -0.5, 0.0, 0.5, 1.0):
        canvas.line(x(tick * reach), top - 4, x(tick * reach), bottom, opacity=0.14 if tick else 0.6)
        number = points(tick * reach, sign=True).replace(".0", "")
        anchor = {-1.0: "start", 1.0: "end"}.get(tick, "middle") if narrow else "middle"
        canvas.text(x(tick * reach), bottom + 17, number, size=11, anchor=anchor, opacity=0.75)
    for i, one in enumerate(differences):
        y = top + row * i
        told = f"{points(one.value.value, sign=True)} {_ends(one)}"
        if narrow:
            canvas.text(left, y + 12, label(one), size=12)
            canvas.text(left, y + 28, f"{told}, {short_verdict(one)}", size=12, bold=one.real)
            _bar(canvas, one, x, y + 44)
        else:
            canvas.text(left - 12, y + row / 2 + 4, label(one), size=13, anchor="end")
            text = f"{told}, {short_verdict(one)}"
            canvas.text(width, y + row / 2 + 4, text, size=12.5, anchor="end", bold=one.real)
            _bar(canvas, one, x, y + row / 2)
    return canvas.markup()


def _bar(canvas: Canvas, one: DifferenceFinding, x: Callable[[float], float], y: float) -> None:
    if one.value.low is not None and one.value.high is not None:
        canvas.whisker(x(one.value.low), x(one.value.high), y, width=4)
    if one.naive.low is not None and one.naive.high is not None:
        canvas.whisker(x(one.naive.low), x(one.naive.high), y + 7, width=1.2, cap_height=2.5)
    if one.value.value is not None:
        canvas.circle(x(one.value.value), y, 5.5, BLUE if one.real else GREY, stroke="#FFFFFF")


def _ends(one: DifferenceFinding) -> str:
    return points_interval(one.value, sign=True)


def _reach(differences: Sequence[DifferenceFinding]) -> float:
    """Return the half-width of the axis: a round number that holds every interval."""
    ends = [abs(e) for d in differences for e in (d.value.low, d.value.high, d.value.value) if e is not None]
    return next((r for r in (0.1, 0.2, 0.3, 0.4, 0.6, 0.8) if r >= max(ends, default=0.1)), 1.0)
