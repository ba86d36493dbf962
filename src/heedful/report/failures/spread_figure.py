"""How far successes and failures are from the mean successful path, in widths of the corridor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from heedful.report.svg import BLUE, GREEN, Canvas

WIDTH = 340.0
_EDGES = 10.0 ** (np.arange(26) / 10 - 1)  # ten bins a decade; the corridor's edge, 1, is the edge of one
_LOW, _HIGH = float(_EDGES[0]), float(_EDGES[-1])
_LEFT, _RIGHT = 8.0, 332.0
_PANEL = 58.0


def spread_figure(successes: Sequence[float], failures: Sequence[float], key: str, policy: str) -> Markup:
    """Return two histograms over distance / widest threshold on one logarithmic axis, 340 px wide.

    Args:
        successes: Distances as multiples of their task's widest threshold.
        failures: The same.
        key: Unique within the page.
        policy: Whose.
    """
    counts = [_histogram(values) for values in (successes, failures)]
    beyond = float(np.mean([v > 1 for v in failures])) if len(failures) else 0.0
    summary = (
        f"{len(failures)} failures, {100 * beyond:.0f} % beyond the corridor; {len(successes)} successes"
    )
    tops = (24.0, 24.0 + _PANEL + 26.0)
    bottom = tops[1] + _PANEL
    canvas = Canvas(key, WIDTH, bottom + 36, f"Distances of {policy}", summary)

    def x(multiple: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * float(np.log(multiple / _LOW) / np.log(_HIGH / _LOW))

    for top, bars, name in zip(tops, counts, ("successes", "failures"), strict=True):
        canvas.text(_LEFT, top - 8, f"{name}, {int(bars.sum())}", size=11.5, bold=True)
        for count, a, b in zip(bars, _EDGES[:-1], _EDGES[1:], strict=True):
            if count:
                tall = _PANEL * count / bars.max()
                inside = b <= 1
                fill = GREEN if name == "successes" else BLUE if inside else canvas.hatch
                canvas.rect(x(a) + 0.5, top + _PANEL - tall, x(b) - x(a) - 1, tall, fill, tip=f"{count}")
        canvas.line(_LEFT, top + _PANEL, _RIGHT, top + _PANEL, opacity=0.5)
    canvas.line(x(1), tops[0] - 6, x(1), bottom + 4, dash="3 3", width=1.4)
    canvas.text(x(1) + 5, tops[0] + 4, "edge of the corridor", size=11)
    for tick in (0.1, 0.3, 1, 3, 10, 30):
        anchor = "start" if tick == _LOW else "end" if tick == 30 else "middle"
        canvas.text(
            x(tick),
            bottom + 16,
            f"≤ {tick:g}" if tick == _LOW else f"{tick:g}",
            size=11,
            anchor=anchor,
            opacity=0.8,
        )
    canvas.text(_LEFT, bottom + 32, "distance from the mean successful path / widest threshold", size=11)
    return canvas.markup()


def _histogram(values: Sequence[float]) -> NDArray[np.intp]:
    """Return counts by bin; what is off the axis counts in its outermost bin."""
    found = np.clip(np.asarray(values, dtype=np.float64), _LOW, _EDGES[-2])
    inside = found <= 1.0  # the edge itself is within the corridor
    return np.histogram(np.where(inside, found * (1 - 1e-9), found).clip(_LOW), _EDGES)[0]
