"""A training curve: loss against step, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from heedful.report.svg import BLUE, Canvas

_MOST_POINTS = 240


def loss_curve(points: Sequence[tuple[float, float]], key: str, title: str) -> Markup:
    """Return the curve through (step, loss), thinned to what a screen can show; 300 px wide."""
    width, height, left, right, top, bottom = 300.0, 170.0, 44.0, 290.0, 10.0, 142.0
    kept = [(s, v) for s, v in points if math.isfinite(v) and v > 0]
    every = max(1, math.ceil(len(kept) / _MOST_POINTS))
    kept = kept[::every] + (kept[-1:] if len(kept) % every != 1 and every > 1 else [])
    said = f"from {kept[0][1]:.3g} to {kept[-1][1]:.3g} in {kept[-1][0]:g} steps" if kept else "no points"
    canvas = Canvas(key, width, height, title, said)
    if not kept:
        canvas.text(width / 2, height / 2, "no points", anchor="middle")
        return canvas.markup()
    low, high = (math.log10(f(v for _, v in kept)) for f in (min, max))
    if high - low < 0.1:
        low, high = low - 0.05, high + 0.05
    last = max(kept[-1][0], 1e-9)

    def x(step: float) -> float:
        return left + (right - left) * step / last

    def y(value: float) -> float:
        return bottom - (bottom - top) * (math.log10(value) - low) / (high - low)

    for tick in _ticks(low, high):
        canvas.line(left, y(tick), right, y(tick), opacity=0.14)
        canvas.text(left - 6, y(tick) + 4, f"{tick:g}", size=11, anchor="end", opacity=0.8)
    canvas.line(left, bottom, right, bottom, opacity=0.5)
    canvas.text(left, bottom + 16, "0", size=11, anchor="middle", opacity=0.8)
    canvas.text(right, bottom + 16, f"{last:g} steps", size=11, anchor="end", opacity=0.8)
    canvas.path([(x(s), y(v)) for s, v in kept], stroke=BLUE, width=1.8)
    return canvas.markup()


def _ticks(low: float, high: float) -> list[float]:
    candidates = [m * 10.0**e for e in range(math.floor(low), math.ceil(high) + 1) for m in (1, 2, 5)]
    inside = [c for c in candidates if low <= math.log10(c) <= high]
    return inside if len(inside) <= 5 else [c for c in inside if f"{c:e}".startswith("1")] or inside[:5]
