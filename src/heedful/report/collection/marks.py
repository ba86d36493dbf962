"""How strategies and stages look: a colour, a dash and a marker each, told apart in grey print, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from heedful.report.svg import BLUE, GREEN, ORANGE, Canvas

Shape = Literal["disc", "square", "diamond", "triangle", "ring"]
PURPLE, BROWN = "#CC79A7", "#8C5A2B"


@dataclass(frozen=True)
class Mark:
    """A colour, a dash pattern (empty: solid) and a marker."""

    colour: str
    dash: str
    shape: Shape


_OF = {
    "v": Mark(BLUE, "", "disc"),
    "l": Mark(ORANGE, "7 4", "square"),
    "random": Mark(GREEN, "2 3", "diamond"),
    "v-full": Mark(PURPLE, "9 3 2 3", "triangle"),
    "complete": Mark(BROWN, "1 4", "ring"),
    "before": Mark(BROWN, "1 4", "ring"),
    "control": Mark(ORANGE, "7 4", "square"),
    "after": Mark(BLUE, "", "disc"),
}


def mark(name: str) -> Mark:
    """Return the mark of a strategy or a stage."""
    return _OF.get(name, Mark(BROWN, "", "ring"))


def draw(canvas: Canvas, name: str, x: float, y: float, r: float = 5.0) -> None:
    """Draw the marker of ``name`` at (x, y)."""
    own = mark(name)
    match own.shape:
        case "disc":
            canvas.circle(x, y, r, own.colour, stroke="#FFFFFF")
        case "square":
            canvas.rect(x - r * 0.9, y - r * 0.9, 1.8 * r, 1.8 * r, own.colour, stroke="#FFFFFF")
        case "ring":
            canvas.circle(x, y, r * 0.85, "#FFFFFF", stroke=own.colour)
        case "diamond":
            canvas.area(
                _around(x, y, r * 1.25, ((0, -1), (1, 0), (0, 1), (-1, 0))), own.colour, stroke="#FFFFFF"
            )
        case "triangle":
            canvas.area(
                _around(x, y, r * 1.2, ((0, -1), (0.95, 0.8), (-0.95, 0.8))), own.colour, stroke="#FFFFFF"
            )


def _around(
    x: float, y: float, r: float, corners: Sequence[tuple[float, float]]
) -> list[tuple[float, float]]:
    return [(x + r * dx, y + r * dy) for dx, dy in corners]
