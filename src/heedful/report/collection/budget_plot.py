"""Success over the budget, one panel for held-out cells, for collected ones and for the whole grid."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from heedful.report import words
from heedful.report.collection.findings import ArmFinding, ComparisonFindings
from heedful.report.collection.marks import draw, mark
from heedful.report.collection.words import PART_TITLES, strategy
from heedful.report.svg import Canvas
from heedful.spec.rollout import Estimate

_PANEL_W, _PANEL_H, _LEFT, _TOP, _GAP = 316.0, 230.0, 44.0, 34.0, 44.0
_LABEL_W = 66.0
"""Pixels at the right of a panel for the names of the strategies."""
_APART = 9.0
"""Pixels between the whiskers of strategies at one budget."""


def budget_plot(findings: ComparisonFindings, key: str, *, narrow: bool = False) -> Markup:
    """Return success with its interval for every strategy and budget.

    Args:
        findings: The comparison.
        key: Unique within the page.
        narrow: Panels below each other in 340 px instead of beside each other.
    """
    parts = tuple(PART_TITLES)
    panel_w = 292.0 if narrow else _PANEL_W
    step_x, step_y = (0.0, _PANEL_H + 90) if narrow else (panel_w + _GAP, 0.0)
    width = 340.0 if narrow else _LEFT + 3 * panel_w + 2 * _GAP + 16
    height = _TOP + _PANEL_H + 44 + step_y * (len(parts) - 1)
    said = "; ".join(
        f"{strategy(arm.strategy)} at f {arm.changes}, n {arm.demos}: "
        + ", ".join(f"{PART_TITLES[p]} {words.percent(arm.success[p].pooled.rate.value)}" for p in parts)
        for arm in findings.arms
    )
    canvas = Canvas(key, width, height, "Success over the budget, by strategy", said)
    for i, part in enumerate(parts):
        _panel(canvas, findings, part, _LEFT + i * step_x, _TOP + i * step_y, panel_w)
    return canvas.markup()


def _panel(
    canvas: Canvas, findings: ComparisonFindings, part: str, left: float, top: float, width: float
) -> None:
    bottom = top + _PANEL_H
    budgets = [f if findings.varies == "f" else n for f, n in findings.budgets]
    canvas.text(left, top - 14, PART_TITLES[part], size=14, bold=True)
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - _PANEL_H * tick
        canvas.line(left, y, left + width, y, opacity=0.5 if not tick else 0.14)
        canvas.text(left - 7, y + 4, f"{100 * tick:.0f}", size=11, anchor="end", opacity=0.75)
    canvas.text(left - 7, top - 14, "%", size=11, anchor="end", opacity=0.75)

    def x(budget: int) -> float:
        low, high = min(budgets), max(budgets)
        share = 0.5 if low == high else (budget - low) / (high - low)
        return left + 30 + (width - 48 - _LABEL_W) * share

    for budget in budgets:
        canvas.line(x(budget), bottom, x(budget), bottom + 4, opacity=0.6)
        canvas.text(x(budget), bottom + 18, str(budget), size=12, anchor="middle")
    name = "factor changes f" if findings.varies == "f" else "demonstrations n"
    canvas.text(left + width, bottom + 33, name, size=11, anchor="end", opacity=0.75)
    names = list(dict.fromkeys(arm.strategy for arm in findings.arms))
    ends: list[tuple[float, str]] = []
    for i, one in enumerate(names):
        shift = (i - (len(names) - 1) / 2) * _APART
        own = [arm for arm in findings.arms if arm.strategy == one]
        drawn = _strategy(canvas, own, part, [x(_at(arm, findings)) + shift for arm in own], bottom)
        if drawn is not None:
            ends.append((drawn, one))
    for y, one in _apart(ends):
        canvas.text(left + width - _LABEL_W + 8, y + 4, strategy(one), size=12.5, bold=True)
        draw(canvas, one, left + width - _LABEL_W, y, 4)


def _at(arm: ArmFinding, findings: ComparisonFindings) -> int:
    return arm.changes if findings.varies == "f" else arm.demos


def _strategy(
    canvas: Canvas, arms: Sequence[ArmFinding], part: str, xs: Sequence[float], bottom: float
) -> float | None:
    """Draw one strategy's line and whiskers; return the height of its last point."""
    points: list[tuple[float, float, Estimate]] = []
    for x, arm in zip(xs, arms, strict=True):
        rate = arm.success[part].pooled.rate
        if rate.value is not None:
            points.append((x, bottom - _PANEL_H * rate.value, rate))
    if not points:
        return None
    own = mark(arms[0].strategy)
    canvas.path([(x, y) for x, y, _ in points], stroke=own.colour, width=2, dash=own.dash)
    for x, y, rate in points:
        if rate.low is not None and rate.high is not None:
            low, high = bottom - _PANEL_H * rate.low, bottom - _PANEL_H * rate.high
            canvas.line(x, low, x, high, stroke=own.colour, width=2.2)
            for end in (low, high):
                canvas.line(x - 3, end, x + 3, end, stroke=own.colour, width=1.6)
        draw(canvas, arms[0].strategy, x, y)
    return points[-1][1]


def _apart(ends: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return labels moved down until none overlaps another."""
    found: list[tuple[float, str]] = []
    for y, name in sorted(ends):
        found.append((max(y, found[-1][0] + 14 if found else y), name))
    return found
