"""The factor hierarchy as a ladder: ties side by side, each step with how sure it is."""

from __future__ import annotations

from markupsafe import Markup

from heedful.report import words
from heedful.report.findings import HierarchyFinding
from heedful.report.svg import BLUE, GREY, Canvas, ink_on, mix

_CHARACTER_PX = 8.2


def ladder(hierarchy: HierarchyFinding, key: str, *, policy: str = "") -> Markup:
    """Return the levels from the top one down; 340 px wide, more rows when a tie is long."""
    width, chip, gap, step = 340.0, 30.0, 8.0, 34.0
    rows = [_rows(level, width - 150) for level in hierarchy.levels]
    heights = [len(r) * (chip + gap) - gap for r in rows]
    height = sum(heights) + step * (len(rows) - 1) + 8
    canvas = Canvas(
        key,
        width,
        height,
        f"Factor hierarchy of {policy or 'the policy'}",
        words.order(hierarchy.levels) + ". Equal Copeland scores are ties.",
    )
    opponents = sum(len(level) for level in hierarchy.levels) - 1
    steps = {(s.above, s.below): s.sure for s in hierarchy.order_kept}
    y, rank = 4.0, 1
    for i, level in enumerate(hierarchy.levels):
        colour = mix(BLUE, 1.0 - 0.85 * i / max(len(hierarchy.levels) - 1, 1))
        canvas.text(2, y + 20, f"{rank}", size=15, bold=True, opacity=0.65)
        for r, names in enumerate(rows[i]):
            x = 30.0
            for name in names:
                wide = 20 + _CHARACTER_PX * len(name)
                top = y + r * (chip + gap)
                canvas.rect(x, top, wide, chip, colour, radius=6, stroke=BLUE)
                canvas.text(
                    x + wide / 2, top + 20, name, size=14, bold=True, anchor="middle", fill=ink_on(colour)
                )
                x += wide + gap
                if name != level[-1]:
                    canvas.text(x + 2, top + 20, "=", size=15, bold=True, anchor="middle")
                    x += gap + 4
        won = {hierarchy.copeland.get(name, 0) for name in level}
        score = f"wins {won.pop()} of {opponents}" if len(won) == 1 else ""
        canvas.text(width, y + (20 if len(level) == 1 else 14), score, size=12, anchor="end")
        if len(level) > 1:
            canvas.text(width, y + 29, "tied", size=12, anchor="end", bold=True)
        y += heights[i]
        if i + 1 < len(hierarchy.levels):
            below = hierarchy.levels[i + 1]
            canvas.line(46, y + 4, 46, y + step - 4, stroke=GREY, width=2)
            sure = steps.get((level, below))
            if sure is not None:
                canvas.text(56, y + 21, f"kept in {words.percent(sure, 0)} of draws", size=12, opacity=0.85)
            y += step
        rank += len(level)
    return canvas.markup()


def _rows(level: tuple[str, ...], room: float) -> list[list[str]]:
    rows: list[list[str]] = [[]]
    used = 0.0
    for name in level:
        wide = 20 + _CHARACTER_PX * len(name) + 20
        if rows[-1] and used + wide > room + 20:
            rows.append([])
            used = 0.0
        rows[-1].append(name)
        used += wide
    return rows
