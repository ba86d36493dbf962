"""Mean paraphrase distance of each cell against success in it."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

from markupsafe import Markup

from heedful.metrics.cells import CellResult
from heedful.report.paraphrase.names import cell_title
from heedful.report.svg import BLUE, GREEN, ORANGE, Canvas
from heedful.report.words import percent

COLOURS = {"act": BLUE, "obj": ORANGE, "comp": GREEN}
"""What is worded anew -> colour; each has a shape of its own, too."""


def distance_scatter(cells: Sequence[CellResult], key: str, policy: str) -> Markup:
    """Return one mark a cell, 460 px wide, with the least-squares line.

    Args:
        cells: Cells; those without distance or rollouts are left out.
        key: Unique within the page.
        policy: Whose success it is, for screen readers.
    """
    width, height, left, right, top, bottom = 460.0, 330.0, 52.0, 448.0, 12.0, 284.0
    marks = [
        (c.result.distance, c.result.authors, c)
        for c in cells
        if c.result and c.result.distance is not None and c.result.authors is not None
    ]
    canvas = Canvas(
        key,
        width,
        height,
        f"Success of {policy} against mean paraphrase distance, cell by cell",
        "; ".join(
            f"{cell_title(c.cell.object, c.cell.action)}: distance {d:.2f}, success {percent(s)}"
            for d, s, c in marks
        ),
    )
    if not marks:
        canvas.text(width / 2, height / 2, "no distances", anchor="middle")
        return canvas.markup()
    lowest, highest = min(d for d, _, _ in marks), max(d for d, _, _ in marks)
    start = floor(10 * lowest) / 10
    end = max(ceil(10 * highest) / 10, start + 0.1)
    floor_rate = floor(5 * min(s for _, s, _ in marks)) / 5

    def x(distance: float) -> float:
        return left + (right - left) * (distance - start) / (end - start)

    def y(rate: float) -> float:
        return bottom - (bottom - top) * (rate - floor_rate) / (1.0 - floor_rate)

    if floor_rate == 1.0:
        floor_rate = 0.8
    for k in range(round(floor_rate * 10), 11, 1 if floor_rate >= 0.6 else 2):
        canvas.line(left, y(k / 10), right, y(k / 10), opacity=0.14)
        canvas.text(left - 8, y(k / 10) + 4, f"{10 * k} %", size=11, anchor="end", opacity=0.8)
    for k in range(round(10 * start), round(10 * end) + 1):
        canvas.line(x(k / 10), bottom, x(k / 10), bottom + 4, opacity=0.5)
        canvas.text(x(k / 10), bottom + 18, f"{k / 10:.1f}", size=11, anchor="middle", opacity=0.8)
    canvas.line(left, bottom, right, bottom, opacity=0.5)
    canvas.text((left + right) / 2, height - 8, "mean paraphrase distance", size=12, anchor="middle")
    _line(canvas, [(x(d), y(s)) for d, s, _ in marks], x(lowest), x(highest), top)
    for distance, rate, cell in marks:
        tip = (
            f"{cell_title(cell.cell.object, cell.cell.action)}: distance {distance:.3f}, "
            f"success {percent(rate)}, n {cell.result.rollouts if cell.result else 0}"
        )
        _mark(canvas, x(distance), y(rate), cell.cell.category)
        canvas.rect(x(distance) - 7, y(rate) - 7, 14, 14, "transparent", tip=tip)
    return canvas.markup()


def _mark(canvas: Canvas, x: float, y: float, category: str) -> None:
    colour = COLOURS[category]
    if category == "act":
        canvas.circle(x, y, 5, colour, stroke="#FFFFFF")
    elif category == "obj":
        canvas.area([(x - 6, y + 5), (x, y - 6), (x + 6, y + 5)], colour, stroke="#FFFFFF")
    else:
        canvas.area(
            [(x - 4.5, y - 4.5), (x + 4.5, y - 4.5), (x + 4.5, y + 4.5), (x - 4.5, y + 4.5)],
            colour,
            stroke="#FFFFFF",
        )


def _line(
    canvas: Canvas, points: Sequence[tuple[float, float]], start: float, end: float, top: float
) -> None:
    """Draw the least-squares line between two places on the axis, below 100 % at ``top``."""
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    if n < 3 or spread == 0:
        return
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    if slope > 0:  # down the picture: from 100 % on
        start = max(start, mean_x + (top - mean_y) / slope)
    elif slope < 0:
        end = min(end, mean_x + (top - mean_y) / slope)
    heights = (mean_y + slope * (at - mean_x) for at in (start, end))
    canvas.line(start, next(heights), end, next(heights), dash="5 4", opacity=0.6)


def legend() -> Markup:
    """Return the three shapes and what they stand for, as list items."""
    names = (("act", "●", "only the action"), ("obj", "▲", "only the object"), ("comp", "■", "both"))
    items = (
        f'<li><span style="color:{COLOURS[kind]}">{mark}</span> {name}</li>' for kind, mark, name in names
    )
    return Markup("".join(items))
