"""Before, control and after beside each other: the preference in conflicts, and success."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from heedful.report import words
from heedful.report.collection.findings import StageFinding
from heedful.report.collection.marks import draw, mark
from heedful.report.collection.words import PART_TITLES
from heedful.report.svg import Canvas
from heedful.spec.rollout import Estimate

_WIDTH, _LEFT, _RIGHT, _ROW = 388.0, 116.0, 252.0, 26.0


def fdr_stages(rows: Sequence[tuple[str, str, Estimate]], first: str, second: str, key: str) -> Markup:
    """Return the FDR of every stage on a line from -1 to +1.

    Args:
        rows: What the stage is called, its key, and its FDR.
        first: The factor that a positive FDR follows.
        second: The factor that a negative one follows.
        key: Unique within the page.
    """
    top = 26.0
    bottom = top + _ROW * len(rows)
    said = "; ".join(f"{t}: {words.fdr(e.value)} {words.fdr_interval(e)}" for t, _, e in rows)
    title = f"Which factor was followed: {first} against {second}"
    canvas = Canvas(key, _WIDTH, bottom + 22, title, said)

    def x(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * (value + 1) / 2

    canvas.text(_LEFT, 13, f"← {second}", size=11, opacity=0.8)
    canvas.text(_RIGHT, 13, f"{first} →", size=11, anchor="end", opacity=0.8)
    for tick in (-1.0, 0.0, 1.0):
        canvas.line(x(tick), top - 4, x(tick), bottom, opacity=0.14 if tick else 0.6)
        number = f"{tick:+g}".replace("-", "−") if tick else "0"
        canvas.text(x(tick), bottom + 16, number, size=11, anchor="middle", opacity=0.75)
    for i, (title, stage, found) in enumerate(rows):
        _row(
            canvas,
            title,
            stage,
            found,
            x,
            top + _ROW * i,
            f"{words.fdr(found.value)} {words.fdr_interval(found)}",
        )
    return canvas.markup()


def success_stages(rows: Sequence[tuple[str, str, StageFinding]], key: str) -> Markup:
    """Return success of every stage on cells it was not shown, on those it was, and on all.

    Args:
        rows: What the stage is called, its key, and what was found.
        key: Unique within the page.
    """
    part_h = 26 + _ROW * len(rows)
    height = part_h * len(PART_TITLES) + 22
    said = "; ".join(
        f"{t}, {PART_TITLES[p].lower()}: {words.percent(s.success[p].pooled.rate.value)}"
        for p in PART_TITLES
        for t, _, s in rows
    )
    canvas = Canvas(key, _WIDTH, height, "Success before, with more of the same, and after", said)

    def x(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * value

    for k, (part, heading) in enumerate(PART_TITLES.items()):
        top = part_h * k + 22
        canvas.text(0, top - 8, heading, size=12, bold=True)
        for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
            canvas.line(x(tick), top, x(tick), top + _ROW * len(rows), opacity=0.14 if tick else 0.6)
        for i, (title, stage, found) in enumerate(rows):
            rate = found.success[part].pooled.rate
            told = f"{words.percent(rate.value)} {words.percent_interval(rate)}"
            _row(canvas, title, stage, rate, x, top + _ROW * i, told)
    for tick in (0.0, 0.5, 1.0):
        canvas.text(x(tick), height - 4, f"{100 * tick:.0f} %", size=11, anchor="middle", opacity=0.75)
    return canvas.markup()


def _row(
    canvas: Canvas, title: str, stage: str, found: Estimate, x: Callable[[float], float], y: float, told: str
) -> None:
    middle = y + _ROW / 2
    canvas.text(_LEFT - 10, middle + 4, title, size=12, anchor="end")
    if found.value is None:
        canvas.text((_LEFT + _RIGHT) / 2, middle + 4, "undefined", size=11, anchor="middle", opacity=0.7)
        return
    if found.low is not None and found.high is not None:
        canvas.line(x(found.low), middle, x(found.high), middle, stroke=mark(stage).colour, width=4)
    draw(canvas, stage, x(found.value), middle, 5.5)
    canvas.text(_WIDTH, middle + 4, told, size=11.5, anchor="end")
