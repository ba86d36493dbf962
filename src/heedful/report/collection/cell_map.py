"""The grid of two factors, cell by cell: successes counted, collected cells outlined."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from heedful.report.collection.findings import Axis, CellCounts, PlannedCell
from heedful.report.svg import BLUE, GREY, Canvas, ink_on, mix

_W, _H, _LEFT, _TOP = 44.0, 36.0, 62.0, 44.0


def fill(share: float) -> str:
    """Return the colour of a success rate: pale at 0, blue at 1."""
    return mix(BLUE, 0.05 + 0.9 * share)


def cell_map(
    axes: Sequence[Axis], cells: Sequence[CellCounts], seeds: int, key: str, *, title: str
) -> Markup | None:
    """Return the grid, first factor down and second across; ``None`` unless there are two factors.

    A cell is outlined where every training seed's plan holds it, and outlined with dashes where
    only some seeds' plans do.

    Args:
        axes: The two factors.
        cells: What happened, over training seeds.
        seeds: Number of training seeds.
        key: Unique within the page.
        title: What a screen reader calls the figure.
    """
    if len(axes) != 2:
        return None
    canvas, places = _grid(axes, key, title, "; ".join(_said(cell, seeds) for cell in cells))
    found = {cell.cell: cell for cell in cells}
    for values, (x, y) in places.items():
        _cell(canvas, found.get(values), seeds, x, y)
    return canvas.markup()


def plan_map(axes: Sequence[Axis], cells: Sequence[PlannedCell], key: str, *, title: str) -> Markup | None:
    """Return the grid with the demonstrations of every cell of a plan; ``None`` unless of two factors.

    Args:
        axes: The two factors.
        cells: Every cell and how often it is shown.
        key: Unique within the page.
        title: What a screen reader calls the figure.
    """
    if len(axes) != 2:
        return None
    said = "; ".join(f"{' + '.join(c.cell)}: {c.demonstrations}" for c in cells if c.demonstrations)
    canvas, places = _grid(axes, key, title, said)
    counts = {cell.cell: cell.demonstrations for cell in cells}
    for values, (x, y) in places.items():
        count = counts.get(values, 0)
        if count:
            canvas.rect(x + 1.5, y + 1.5, _W - 3, _H - 3, stroke="currentColor", radius=4, stroke_width=2)
            canvas.text(x + _W / 2, y + _H / 2 + 4, str(count), size=12, anchor="middle", bold=True)
        else:
            canvas.rect(x + 2.5, y + 2.5, _W - 5, _H - 5, stroke=GREY, dash="2 3", radius=3, opacity=0.6)
    return canvas.markup()


def _grid(
    axes: Sequence[Axis], key: str, title: str, said: str
) -> tuple[Canvas, dict[tuple[str, ...], tuple[float, float]]]:
    """Return a canvas with the headings of the grid, and the corner of every cell."""
    rows, columns = axes
    width, height = _LEFT + _W * len(columns.values) + 3, _TOP + _H * len(rows.values) + 3
    canvas = Canvas(key, width, height, title, said)
    canvas.text(_LEFT, 13, f"{columns.factor} →", size=11, opacity=0.8)
    canvas.text(_LEFT - 8, _TOP - 10, f"{rows.factor} ↓", size=11, anchor="end", opacity=0.8)
    for j, value in enumerate(columns.values):
        canvas.text(_LEFT + _W * (j + 0.5), _TOP - 10, value, size=10.5, anchor="middle")
    for i, value in enumerate(rows.values):
        canvas.text(_LEFT - 8, _TOP + _H * (i + 0.5) + 4, value, size=11, anchor="end")
    places: dict[tuple[str, ...], tuple[float, float]] = {
        (row, column): (_LEFT + _W * j, _TOP + _H * i)
        for i, row in enumerate(rows.values)
        for j, column in enumerate(columns.values)
    }
    return canvas, places


def _cell(canvas: Canvas, cell: CellCounts | None, seeds: int, x: float, y: float) -> None:
    tried = cell is not None and cell.trials > 0
    paint = fill(cell.successes / cell.trials) if cell is not None and tried else "none"
    canvas.rect(
        x + 2.5,
        y + 2.5,
        _W - 5,
        _H - 5,
        paint,
        radius=3,
        stroke="none" if tried else GREY,
        dash="" if tried else "2 3",
        tip=_said(cell, seeds) if cell is not None else "",
    )
    if cell is None:
        return
    if cell.seeds_collected:
        some = "" if cell.seeds_collected == seeds else "4 2.5"
        canvas.rect(
            x + 1.5, y + 1.5, _W - 3, _H - 3, stroke="currentColor", radius=4, stroke_width=2, dash=some
        )
    if tried:
        text = f"{cell.successes}/{cell.trials}"
        canvas.text(x + _W / 2, y + _H / 2 + 4, text, size=11, anchor="middle", fill=ink_on(paint))


def _said(cell: CellCounts, seeds: int) -> str:
    said = f"{' + '.join(cell.cell)}: {cell.successes} of {cell.trials} succeeded"
    if not cell.seeds_collected:
        return f"{said}; not collected"
    if cell.seeds_collected == seeds:
        return f"{said}; collected, {cell.demonstrations} demonstrations over {seeds} seeds"
    return (
        f"{said}; collected in {cell.seeds_collected} of {seeds} seeds, "
        f"{cell.collected_successes} of {cell.collected_trials} there"
    )
