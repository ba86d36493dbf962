"""Success in every cell of the taxonomy: object types by action types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from heedful.metrics.cells import CellResult, GroupResult
from heedful.report.paraphrase.names import ACTION_NAMES, OBJECT_NAMES, cell_title
from heedful.report.svg import BLUE, GREY, Canvas, ink_on, mix
from heedful.report.words import percent, percent_interval
from heedful.spec.paraphrase import ACTION_AXIS, ACTION_TYPES, OBJECT_TYPES, ORIGINAL, Cell
from heedful.spec.rollout import Estimate

_SHORT = {
    "as it was": ("as it was",),
    "addition or deletion": ("addition or", "deletion"),
    "contextual synonym": ("contextual", "synonym"),
    "habitual synonym": ("habitual", "synonym"),
    "embedded imperative": ("embedded", "imperative"),
    "need statement": ("need", "statement"),
    "permission request": ("permission", "request"),
}

_GAP = 6.0
"""Between the cells and the margins."""


@dataclass(frozen=True)
class _Grid:
    """Where cells stand: columns and rows from ``left`` and ``top``."""

    left: float
    top: float
    width: float
    height: float


def heat_map(
    cells: Sequence[CellResult],
    by_object: Sequence[GroupResult],
    by_action: Sequence[GroupResult],
    original: Estimate | None,
    key: str,
    policy: str,
    *,
    narrow: bool = False,
) -> Markup:
    """Return the map: success in percent and the number of rollouts, darker where it succeeds more.

    The last row and column are pooled over the cells beside them.

    Args:
        cells: All cells.
        by_object: The margin by object type.
        by_action: The margin by action type.
        original: Success with the original words, shown in their corner; ``None``: not run.
        key: Unique within the page.
        policy: Whose success it is, for screen readers.
        narrow: Actions down the side, 340 px, for phones.
    """
    found = {cell.cell: cell for cell in cells}
    rows, columns = (ACTION_TYPES, OBJECT_TYPES) if narrow else (OBJECT_TYPES, ACTION_TYPES)
    grid = _Grid(82, 46, 51, 42) if narrow else _Grid(118, 62, 79, 48)
    canvas = Canvas(
        key,
        grid.left + grid.width * (len(columns) + 1) + 8,
        grid.top + grid.height * (len(rows) + 1) + 12,
        f"Success of {policy} by kind of paraphrase",
        "; ".join(_said(cell) for cell in cells if cell.result),
    )
    _heads(canvas, grid, rows, columns, narrow)
    row_margin, column_margin = (by_action, by_object) if narrow else (by_object, by_action)
    for i, row in enumerate(rows):
        y = grid.top + grid.height * i
        for j, column in enumerate(columns):
            cell = Cell(column, row) if narrow else Cell(row, column)  # type: ignore[arg-type]  # by narrow
            _cell(canvas, grid, grid.left + grid.width * j, y, cell, found.get(cell), original)
        _margin(canvas, grid, grid.left + grid.width * len(columns) + _GAP, y, row, row_margin)
    for j, column in enumerate(columns):
        below = grid.top + grid.height * len(rows) + _GAP
        _margin(canvas, grid, grid.left + grid.width * j, below, column, column_margin)
    return canvas.markup()


def _heads(canvas: Canvas, grid: _Grid, rows: Sequence[str], columns: Sequence[str], narrow: bool) -> None:
    row_names, column_names = (ACTION_NAMES, OBJECT_NAMES) if narrow else (OBJECT_NAMES, ACTION_NAMES)
    size = 10.5 if narrow else 11.5
    for i, row in enumerate(rows):
        centre = grid.top + grid.height * (i + 0.5)
        _lines(canvas, grid.left - 8, centre + 4, row_names[row], size, "end")
    _lines(
        canvas, grid.left - 8, grid.top + grid.height * (len(rows) + 0.5) + _GAP + 4, "pooled", size, "end"
    )
    for j, column in enumerate((*columns, "")):
        centre = grid.left + grid.width * (j + 0.5) + (0 if column else _GAP)
        head = column_names.get(column, "pooled")
        _lines(canvas, centre, grid.top - 15, head, 9 if narrow else size, "middle")
    if narrow:
        canvas.text(grid.left, 10, "object", size=11, opacity=0.75)
        canvas.text(grid.left - 8, grid.top - 6, "action", size=11, anchor="end", opacity=0.75)
        return
    canvas.text(grid.left - 8, grid.top - 8, "object", size=11, anchor="end", opacity=0.75)
    for axis in ("lexical", "structural", "pragmatic"):
        own = [j for j, column in enumerate(columns) if ACTION_AXIS[column] == axis]  # type: ignore[index]
        left, right = grid.left + grid.width * own[0] + 3, grid.left + grid.width * (own[-1] + 1) - 3
        canvas.line(left, 20, right, 20, opacity=0.45)
        canvas.text((left + right) / 2, 14, f"action, {axis}", size=11, anchor="middle", opacity=0.75)


def _cell(
    canvas: Canvas,
    grid: _Grid,
    x: float,
    y: float,
    cell: Cell,
    result: CellResult | None,
    original: Estimate | None,
) -> None:
    group = result.result if result is not None else None
    if group is not None and group.success.value is not None:
        _filled(canvas, grid, x, y, group.success, group.rollouts, cell_title(cell.object, cell.action))
        return
    w, h = grid.width, grid.height
    canvas.rect(x + 1.5, y + 1.5, w - 3, h - 3, stroke=GREY, radius=3, tip=_absent(cell, original))
    if cell == ORIGINAL and original is not None and original.value is not None:
        canvas.text(x + w / 2, y + h / 2 + 1, percent(original.value, 0), size=13, anchor="middle", bold=True)
        canvas.text(x + w / 2, y + h / 2 + 14, "original", size=9.5, anchor="middle")
        return
    step = 8.0
    for k in range(1, int((w + h) / step)):  # hatching: from the left or lower edge to the upper or right one
        at = step * k
        x1, y1 = max(0.0, at - h), min(at, h)
        x2, y2 = min(at, w), max(0.0, at - w)
        if x2 - x1 > 4:
            canvas.line(x + x1 + 2, y + y1 - 2, x + x2 - 2, y + y2 + 2, stroke=GREY, opacity=0.6)


def _margin(
    canvas: Canvas, grid: _Grid, x: float, y: float, name: str, margin: Sequence[GroupResult]
) -> None:
    group = next((g for g in margin if g.name == name), None)
    if group is not None and group.success.value is not None:
        _filled(canvas, grid, x, y, group.success, group.rollouts, f"pooled over {name.replace('_', ' ')}")


def _filled(
    canvas: Canvas, grid: _Grid, x: float, y: float, rate: Estimate, rollouts: int, what: str
) -> None:
    value = rate.value or 0.0
    fill = mix(BLUE, 0.04 + 0.9 * value)
    tip = f"{what}: {percent(value)} {percent_interval(rate)}, {rollouts} rollouts"
    canvas.rect(x + 1, y + 1, grid.width - 2, grid.height - 2, fill, radius=3, tip=tip)
    middle, ink = x + grid.width / 2, ink_on(fill)
    number = f"{100 * value:.0f}"
    canvas.text(middle, y + grid.height / 2 + 1, number, size=15, anchor="middle", bold=True, fill=ink)
    canvas.text(middle, y + grid.height / 2 + 15, f"n {rollouts}", size=9.5, anchor="middle", fill=ink)


def _lines(canvas: Canvas, x: float, y: float, name: str, size: float, anchor: str) -> None:
    """Write a name on one or two lines, around y."""
    lines = _SHORT.get(name, (name,))
    for k, line in enumerate(lines):
        canvas.text(x, y + (k - (len(lines) - 1) / 2) * (size + 2), line, size=size, anchor=anchor)


def _absent(cell: Cell, original: Estimate | None) -> str:
    if cell != ORIGINAL:
        return f"{cell_title(cell.object, cell.action)}: not run"
    if original is None:
        return "the original words: not run"
    return f"the original words: {percent(original.value)} {percent_interval(original)}, n {original.n}"


def _said(cell: CellResult) -> str:
    rate = cell.result.success if cell.result else None
    return f"{cell_title(cell.cell.object, cell.cell.action)}: {percent(rate.value if rate else None)}"
