"""One task from above and from the side: the successful corridor and the failures around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from heedful.metrics.path_failures import Failure, Task
from heedful.metrics.paths import Corridor, resample
from heedful.report.svg import BLUE, GREEN, ORANGE, Canvas

F64 = NDArray[np.float64]
T = TypeVar("T")
WIDTH = 320.0
MOST_DRAWN = 30
"""Paths of each kind that are drawn: more would hide each other."""

_LEFT, _RIGHT, _GAP = 18.0, 4.0, 46.0
_TALLEST = 230.0
_DRAWN_POINTS = 32


@dataclass(frozen=True)
class _Panel:
    """Places of one view: the point (low_a, high_b) is at (left, top)."""

    axis: int
    left: float
    top: float
    low_a: float
    high_b: float
    scale: float

    def points(self, path: F64) -> list[tuple[float, float]]:
        """Return the path [T, 3] on the canvas."""
        across = self.left + (path[:, 0] - self.low_a) * self.scale
        down = self.top + (self.high_b - path[:, self.axis]) * self.scale
        return list(zip(across.tolist(), down.tolist(), strict=True))


def corridor_figure(task: Task, key: str, arms: Sequence[str]) -> Markup:
    """Return the paths of ``task`` from above (x, y) over those from the side (x, z), 320 px wide.

    Successes green, their mean dark inside a band as wide as the widest threshold, near
    failures blue, far ones orange and dashed. All three axes have one scale.

    Args:
        task: One with a corridor.
        key: Unique within the page.
        arms: Failures of these arms are drawn.
    """
    corridor = task.corridor
    if corridor is None:
        raise ValueError(f"task {task.name} has no corridor")
    successes = [_thin(corridor.seen(p)) for p in _some(task.successes)]
    failed = [f for f in task.failures if f.path.arm in arms]
    drawn = [(f, _thin(corridor.seen(f.path))) for f in _shown(failed)]
    everything = np.concatenate([corridor.mean_m, *successes, *(path for _, path in drawn)])
    low, high = everything.min(axis=0), everything.max(axis=0)
    if corridor.place is not None:
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    span = np.maximum(high - low, 1e-3)
    scale = float(min((WIDTH - _LEFT - _RIGHT) / span[0], _TALLEST / span[1], _TALLEST / span[2]))
    top = _Panel(1, _LEFT, 24.0, float(low[0]), float(high[1]), scale)
    side = _Panel(2, _LEFT, 24.0 + float(span[1]) * scale + _GAP, float(low[0]), float(high[2]), scale)
    height = side.top + float(span[2]) * scale + 40
    near = sum(f.near["max"] for f in failed)
    said = (
        f"{len(task.successes)} successes, {near} near and {len(failed) - near} far failures; "
        f"corridor {100 * corridor.thresholds_m['max']:.1f} cm on either side"
    )
    canvas = Canvas(key, WIDTH, height, f"Paths of {task.name}", said)
    for panel, words, extent in ((top, "from above", span[1]), (side, "from the side", span[2])):
        _frame(canvas, panel, words, float(span[0]), float(extent))
        band = 2 * corridor.thresholds_m["max"] * scale
        canvas.path(panel.points(corridor.mean_m), stroke=GREEN, width=band, opacity=0.16, cap="round")
        for path in successes:
            canvas.path(panel.points(path), stroke=GREEN, width=0.9, opacity=0.5)
        for failure, path in drawn:
            _failure(canvas, panel, failure, path)
        canvas.path(panel.points(corridor.mean_m), stroke="currentColor", width=2.2)
        _marks(canvas, panel, corridor)
    _ruler(canvas, height, scale)
    return canvas.markup()


def _thin(path: F64) -> F64:
    return resample(path, _DRAWN_POINTS)


def _some(items: Sequence[T]) -> Sequence[T]:
    return items[:: -(-len(items) // MOST_DRAWN)] if items else items


def _shown(failures: Sequence[Failure]) -> Sequence[Failure]:
    """Return the failures to draw, spread over their distances, so that both kinds are seen."""
    return _some(sorted(failures, key=lambda f: f.distance_m))


def _frame(canvas: Canvas, panel: _Panel, words: str, wide: float, tall: float) -> None:
    bottom, right = panel.top + tall * panel.scale + 4, panel.left + wide * panel.scale + 4
    canvas.line(panel.left - 4, panel.top - 4, panel.left - 4, bottom, opacity=0.35)
    canvas.line(panel.left - 4, bottom, right, bottom, opacity=0.35)
    canvas.text(panel.left - 4, panel.top - 10, words, size=11, opacity=0.8)
    canvas.text(panel.left - 9, panel.top + 8, "xyz"[panel.axis], size=11, anchor="end", opacity=0.8)
    canvas.text(min(right, WIDTH) - 2, bottom + 13, "x", size=11, anchor="end", opacity=0.8)


def _failure(canvas: Canvas, panel: _Panel, failure: Failure, path: F64) -> None:
    near = failure.near["max"]
    tip = f"{failure.path.instruction or failure.path.episode}: {100 * failure.distance_m:.1f} cm"
    points = panel.points(path)
    canvas.path(
        points, stroke=BLUE if near else ORANGE, width=1.6, opacity=0.9, dash="" if near else "4 2.5", tip=tip
    )
    canvas.circle(*points[-1], 2.2, BLUE if near else ORANGE)


def _marks(canvas: Canvas, panel: _Panel, corridor: Corridor) -> None:
    """Mark where the mean path starts and, where paths were moved into one scene, the target."""
    start = panel.points(corridor.mean_m[:1])[0]
    canvas.circle(*start, 3.2, "#FFFFFF", stroke="currentColor")
    if corridor.place is not None:
        x, y = panel.points(np.zeros((1, 3)))[0]
        for tilt in (-1, 1):
            canvas.line(x - 5, y - 5 * tilt, x + 5, y + 5 * tilt, width=2)


def _ruler(canvas: Canvas, height: float, scale: float) -> None:
    """Draw a length of 1, 2 or 5 times a power of ten that is 40 to 110 px long."""
    lengths = [m * 10.0**e for e in range(-4, 4) for m in (1, 2, 5)]
    length = next((v for v in lengths if v * scale >= 40), lengths[-1])
    y = height - 5
    canvas.line(_LEFT, y, _LEFT + length * scale, y, width=2)
    said = f"{100 * length:g} cm" if length < 1 else f"{length:g} m"
    canvas.text(_LEFT + length * scale + 6, y + 4, said, size=11, opacity=0.8)
