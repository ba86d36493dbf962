"""Success rates as bars with their intervals, in named groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from heedful.metrics.cells import GroupResult
from heedful.report.svg import BLUE, ORANGE, Canvas, mix
from heedful.report.words import percent, percent_interval

Section = tuple[str, Sequence[tuple[str, GroupResult]]]
"""Heading, and (label, result) of each bar."""
_WIDEST = 330.0
"""Of the labels, before they are cut."""


def rate_bars(sections: Sequence[Section], key: str, title: str, *, narrow: bool = False) -> Markup:
    """Return a bar for each result: pooled success, its interval, and a diamond for the authors' way.

    Args:
        sections: Groups of bars, each under its heading.
        key: Unique within the page.
        title: What a screen reader says.
        narrow: Labels above their bars, 340 px, for phones.
    """
    longest = max((len(label) for _, bars in sections for label, _ in bars), default=0)
    width, left, right = 340.0, 6.0, 334.0
    if not narrow:
        width, left, right = 720.0, min(max(196.0, 6.9 * longest + 14), _WIDEST), 560.0
    row, head = (42.0, 34.0) if narrow else (27.0, 36.0)
    height = sum(head + row * len(bars) for _, bars in sections) + 26
    said = "; ".join(f"{label}: {percent(r.success.value)}" for _, bars in sections for label, r in bars)
    canvas = Canvas(key, width, height, title, said)

    def x(rate: float) -> float:
        return left + (right - left) * rate

    y = 0.0
    for heading, bars in sections:
        canvas.text(0 if not narrow else left, y + 20, heading, size=13, bold=True)
        y += head
        for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
            canvas.line(x(tick), y - 4, x(tick), y + row * len(bars) - 4, opacity=0.14 if tick else 0.5)
        for label, result in bars:
            centre = y + (28 if narrow else row / 2 - 4)
            _bar(canvas, x, centre, result, label)
            number = percent(result.success.value)
            interval = percent_interval(result.success)
            if narrow:
                canvas.text(left, y + 12, _cut(label, 29), size=12)
                canvas.text(right, y + 12, f"{number} {interval}", size=11.5, anchor="end")
            else:
                shown = _cut(label, int((_WIDEST - 14) / 6.9))
                canvas.text(left - 10, centre + 4, shown, size=12.5, anchor="end")
                canvas.text(628, centre + 4, number, size=13, anchor="end", bold=True)
                canvas.text(width, centre + 4, interval, size=11.5, anchor="end")
            y += row
    for tick in (0.0, 0.5, 1.0):
        anchor = {0.0: "start", 1.0: "end"}.get(tick, "middle") if narrow else "middle"
        canvas.text(x(tick), y + 12, f"{100 * tick:.0f} %", size=11, anchor=anchor, opacity=0.75)
    return canvas.markup()


def _cut(label: str, most: int) -> str:
    """Return a label that fits; the bar's tip has the whole of it."""
    return label if len(label) <= most else f"{label[: most - 1].rstrip()}…"


def _bar(canvas: Canvas, x: Callable[[float], float], centre: float, result: GroupResult, label: str) -> None:
    rate = result.success
    if rate.value is None:
        return
    tip = f"{label}: {percent(rate.value)} {percent_interval(rate)}, {result.rollouts} rollouts"
    canvas.rect(x(0), centre - 8, x(rate.value) - x(0), 15, mix(BLUE, 0.55), radius=1, tip=tip)
    if rate.low is not None and rate.high is not None:
        canvas.whisker(x(rate.low), x(rate.high), centre, width=1.6, cap_height=4)
    if result.authors is not None:
        at = x(result.authors)
        diamond = [(at - 5, centre), (at, centre - 6), (at + 5, centre), (at, centre + 6)]
        canvas.area(diamond, ORANGE, stroke="#FFFFFF")


def legend() -> Markup:
    """Return what bar, whisker and diamond mean, as list items."""
    bar = f'<span class="swatch" style="background:{mix(BLUE, 0.55)}"></span>'
    line = '<span class="key thin"></span>'
    diamond = f'<span style="color:{ORANGE}">◆</span>'
    return Markup(
        f"<li>{bar}pooled: successes over rollouts</li><li>{line}its 95 % interval</li>"
        f"<li>{diamond} the authors' way: unweighted mean over cells</li>"
    )
