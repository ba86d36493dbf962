"""PRIDE for every weight of the keywords."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from heedful.metrics.paraphrase_summary import PridePoint
from heedful.report.svg import BLUE, Canvas


def alpha_sweep(
    points: Sequence[PridePoint], success: float | None, alpha: float, key: str, policy: str
) -> Markup:
    """Return the curve with its 95 % band, 460 px wide; the success rate is the dashed line.

    Args:
        points: In order of alpha.
        success: Success rate in [0, 1], on the same scale.
        alpha: The weight that the page uses, marked.
        key: Unique within the page.
        policy: Whose PRIDE it is, for screen readers.
    """
    width, height, left, right, top, bottom = 460.0, 330.0, 40.0, 396.0, 12.0, 272.0
    known = [(p.alpha, p.pride.value, p.pride) for p in points if p.pride.value is not None]
    canvas = Canvas(
        key,
        width,
        height,
        f"PRIDE of {policy} for every weight of the keywords",
        "; ".join(f"alpha {a:g}: {v:.1f}" for a, v, _ in known),
    )

    def x(weight: float) -> float:
        return left + (right - left) * weight

    def y(value: float) -> float:
        return bottom - (bottom - top) * value / 100

    for tick in (0, 25, 50, 75, 100):
        canvas.line(left, y(tick), right, y(tick), opacity=0.14 if tick else 0.5)
        canvas.text(left - 8, y(tick) + 4, f"{tick}", size=11, anchor="end", opacity=0.8)
    for weight in (0.0, 0.25, 0.5, 0.75, 1.0):
        canvas.text(x(weight), bottom + 18, f"{weight:g}", size=11, anchor="middle", opacity=0.8)
    canvas.text((left + right) / 2, bottom + 36, "α: weight of the keywords", size=12, anchor="middle")
    canvas.text(left, bottom + 54, "← structure alone", size=11, opacity=0.75)
    canvas.text(right, bottom + 54, "keywords alone →", size=11, anchor="end", opacity=0.75)
    band = [(a, e.low, e.high) for a, _, e in known if e.low is not None and e.high is not None]
    if len(band) > 1:
        edge = [(x(a), y(high)) for a, _, high in band] + [(x(a), y(low)) for a, low, _ in reversed(band)]
        canvas.area(edge, BLUE, opacity=0.16)
    canvas.path([(x(a), y(v)) for a, v, _ in known], stroke=BLUE, width=2.4)
    ends: list[tuple[float, str]] = [(known[-1][1], "PRIDE")] if known else []
    if success is not None:
        canvas.line(left, y(100 * success), right, y(100 * success), dash="5 4", opacity=0.75)
        ends.append((100 * success, "success"))
    at = next((v for a, v, _ in known if a == alpha), None)
    if at is not None:
        canvas.circle(x(alpha), y(at), 5, BLUE, stroke="#FFFFFF")
        canvas.text(x(alpha), y(at) + 20, f"{at:.1f}", size=13, anchor="middle", bold=True)
    gap = 14 if len(ends) == 2 and abs(y(ends[0][0]) - y(ends[1][0])) < 14 else 0
    for k, (value, name) in enumerate(sorted(ends, reverse=True)):
        canvas.text(right + 8, y(value) + 4 + (k - 0.5) * gap, name, size=12)
    return canvas.markup()
