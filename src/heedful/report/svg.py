"""A small canvas that writes SVG with real text, readable on its own and inside a page.

Ink is ``currentColor``, so figures follow a page's light or dark scheme and are black in a
file of their own. Colours are from Okabe and Ito's palette, told apart under the common
colour blindnesses; the second one is also hatched, so that they differ in grey print.
"""

from __future__ import annotations

from html import escape
from itertools import pairwise

from markupsafe import Markup

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
GREY = "#A7AEB8"
DARK = "#1B2733"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"


class Canvas:
    """Collects shapes; ``markup()`` returns the finished ``<svg>``.

    Args:
        key: Unique within a page; prefixes the ids of the figure.
        width, height: Extent in user units, one a CSS pixel at natural size.
        title, description: What a screen reader says instead of the picture.
    """

    def __init__(self, key: str, width: float, height: float, title: str, description: str = "") -> None:
        self.key = "".join(c if c.isalnum() else "-" for c in key)
        self.width, self.height = width, height
        self._title, self._description = title, description
        self._parts: list[str] = []

    @property
    def hatch(self) -> str:
        """Return the fill of things that belong to the second factor."""
        return f"url(#{self.key}-hatch)"

    def rect(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        fill: str = "none",
        *,
        stroke: str = "none",
        radius: float = 0.0,
        opacity: float = 1.0,
        dash: str = "",
        stroke_width: float = 1.0,
        tip: str = "",
    ) -> None:
        """Draw a rectangle; ``tip`` shows when the pointer rests on it."""
        attributes = f'fill="{fill}"'
        if stroke != "none":
            attributes += f' stroke="{stroke}" stroke-width="{stroke_width:g}"'
        if radius:
            attributes += f' rx="{radius:g}"'
        if opacity != 1.0:
            attributes += f' opacity="{opacity:g}"'
        if dash:
            attributes += f' stroke-dasharray="{dash}"'
        where = f'x="{x:.2f}" y="{y:.2f}" width="{max(w, 0):.2f}" height="{max(h, 0):.2f}"'
        body = f"><title>{escape(tip)}</title></rect>" if tip else "/>"
        self._parts.append(f"<rect {where} {attributes}{body}")

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        *,
        stroke: str = "currentColor",
        width: float = 1.0,
        opacity: float = 1.0,
        dash: str = "",
        cap: str = "butt",
    ) -> None:
        """Draw a straight line."""
        extra = f' stroke-dasharray="{dash}"' if dash else ""
        extra += f' opacity="{opacity:g}"' if opacity != 1.0 else ""
        extra += f' stroke-linecap="{cap}"' if cap != "butt" else ""
        self._parts.append(
            f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" '
            f'stroke="{stroke}" stroke-width="{width:g}"{extra}/>'
        )

    def whisker(self, low: float, high: float, y: float, *, width: float, cap_height: float = 0.0) -> None:
        """Draw a horizontal interval from x = ``low`` to ``high``."""
        self.line(low, y, high, y, width=width)
        if cap_height:
            for x in (low, high):
                self.line(x, y - cap_height, x, y + cap_height, width=width)

    def circle(self, x: float, y: float, r: float, fill: str, stroke: str = "none") -> None:
        """Draw a disc."""
        edge = f' stroke="{stroke}" stroke-width="1.5"' if stroke != "none" else ""
        self._parts.append(f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{r:g}" fill="{fill}"{edge}/>')

    def path(
        self,
        points: list[tuple[float, float]],
        *,
        stroke: str,
        width: float = 1.5,
        opacity: float = 1.0,
        dash: str = "",
        cap: str = "butt",
        tip: str = "",
    ) -> None:
        """Draw an open line through ``points``; ``tip`` shows when the pointer rests on it."""
        if len(points) < 2:
            return
        steps = " ".join(f"L{x:.1f} {y:.1f}" for x, y in points[1:])
        start = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
        extra = f' stroke-dasharray="{dash}"' if dash else ""
        extra += f' opacity="{opacity:g}"' if opacity != 1.0 else ""
        extra += f' stroke-linecap="{cap}"' if cap != "butt" else ""
        body = f"><title>{escape(tip)}</title></path>" if tip else "/>"
        self._parts.append(
            f'<path d="{start} {steps}" fill="none" stroke="{stroke}" stroke-width="{width:g}" '
            f'stroke-linejoin="round"{extra}{body}'
        )

    def area(
        self, points: list[tuple[float, float]], fill: str, *, stroke: str = "none", opacity: float = 1.0
    ) -> None:
        """Fill the closed shape through ``points``."""
        edge = f' stroke="{stroke}" stroke-width="1.5"' if stroke != "none" else ""
        around = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(f'<polygon points="{around}" fill="{fill}" opacity="{opacity:g}"{edge}/>')

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = 12.0,
        anchor: str = "start",
        bold: bool = False,
        opacity: float = 1.0,
        fill: str = "currentColor",
        rotate: float = 0.0,
    ) -> None:
        """Write ``words`` with the baseline at y."""
        extra = ' font-weight="700"' if bold else ""
        extra += f' opacity="{opacity:g}"' if opacity != 1.0 else ""
        extra += f' transform="rotate({rotate:g} {x:.1f} {y:.1f})"' if rotate else ""
        extra += f' text-anchor="{anchor}"' if anchor != "start" else ""
        self._parts.append(
            f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size:g}" fill="{fill}"{extra}>{escape(words)}</text>'
        )

    def markup(self) -> Markup:
        """Return the figure."""
        hatch = (
            f'<defs><pattern id="{self.key}-hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate(45)"><rect width="6" height="6" fill="{ORANGE}"/>'
            '<rect width="2" height="6" fill="#FFFFFF" opacity=".55"/></pattern></defs>'
        )
        body = "".join(self._parts)
        labels = f'aria-labelledby="{self.key}-t {self.key}-d"'
        return Markup(  # every word inside went through escape()
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'width="{self.width:g}" height="{self.height:g}" role="img" {labels} font-family="{FONT}">'
            f'<title id="{self.key}-t">{escape(self._title)}</title>'
            f'<desc id="{self.key}-d">{escape(self._description)}</desc>'
            f"{hatch if self.hatch in body else ''}{body}</svg>"
        )


def mix(colour: str, strength: float, paper: str = "#FFFFFF") -> str:
    """Return ``colour`` at ``strength`` in [0, 1] over ``paper``, as #rrggbb.

    >>> mix("#000000", 0.5)
    '#808080'
    """
    channels = zip(_rgb(colour), _rgb(paper), strict=True)
    return "#" + "".join(f"{round(p + (c - p) * min(max(strength, 0.0), 1.0)):02x}" for c, p in channels)


def ink_on(fill: str) -> str:
    """Return black or white, whichever reads better on ``fill`` (WCAG relative luminance)."""
    linear = [((c / 255 + 0.055) / 1.055) ** 2.4 if c > 10 else c / 255 / 12.92 for c in _rgb(fill)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return DARK if (luminance + 0.05) ** 2 > 1.05 * 0.06 else "#FFFFFF"


def diverging(value: float) -> str:
    """Return the fill of an FDR in [-1, 1]: blue for the first factor, orange for the second."""
    return mix(BLUE if value > 0 else ORANGE, 0.08 + 0.92 * abs(value) if value else 0.04)


def _rgb(colour: str) -> tuple[int, int, int]:
    digits = colour.lstrip("#")
    red, green, blue = (int(digits[i:j], 16) for i, j in pairwise((0, 2, 4, 6)))
    return red, green, blue
