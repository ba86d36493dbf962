"""FDR of every pair as a bar that leans towards the factor the policy followed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from heedful.report import words
from heedful.report.findings import PairFinding
from heedful.report.svg import BLUE, GREY, ORANGE, Canvas


def fdr_bars(
    pairs: Sequence[PairFinding], tau: float, key: str, *, policy: str = "", narrow: bool = False
) -> Markup:
    """Return the FDR of ``pairs`` with both intervals: thick bootstrap, thin naive.

    Args:
        pairs: In the order of the rows.
        tau: Half-width of the tie band.
        key: Unique within the page.
        policy: Whose FDRs these are, for screen readers.
        narrow: Two lines a row in 340 px instead of one line in 720 px.
    """
    row, top, width = (54, 34, 340) if narrow else (40, 40, 720)
    left, right = (8, 332) if narrow else (92, 486)
    bottom = 26
    height = top + row * len(pairs) + bottom
    said = "; ".join(
        f"{p.factor_1} against {p.factor_2}: {words.fdr(p.fdr.value)} {words.fdr_interval(p.fdr)}"
        for p in pairs
    )
    canvas = Canvas(key, width, height, f"Factor dominance rates of {policy or 'the policy'}", said)
    middle, scale = (left + right) / 2, (right - left) / 2

    def x(value: float) -> float:
        return middle + scale * max(-1.0, min(1.0, value))

    body_top, body_bottom = top - 4.0, float(top + row * len(pairs))
    # In a narrow figure the words stand above each bar, so the axis lines leave them free.
    spans = [(top + row * i + 18.0, top + row * i + 48.0) for i in range(len(pairs))]
    for start, end in spans if narrow else [(body_top, body_bottom)]:
        canvas.rect(x(-tau), start, x(tau) - x(-tau), end - start, GREY, opacity=0.3)
    for tick in (-1.0, -0.5, 0.0, 0.5, 1.0):
        strong = tick == 0
        for start, end in spans if narrow else [(body_top, body_bottom)]:
            canvas.line(x(tick), start, x(tick), end, opacity=0.55 if strong else 0.14)
        anchor = "middle" if abs(tick) < 1 or not narrow else ("start" if tick < 0 else "end")
        canvas.text(
            x(tick),
            body_bottom + 17,
            f"{tick:+g}".replace("-", "−") if tick else "0",
            size=11,
            anchor=anchor,
            opacity=0.75,
        )
    if narrow:
        canvas.text(left, 16, "← follows the left one", size=11, opacity=0.8)
        canvas.text(right, 16, "the right one →", size=11, anchor="end", opacity=0.8)
    else:
        canvas.text(left, 16, "← followed the factor on the left", size=11, opacity=0.8)
        canvas.text(right, 16, "followed the factor on the right →", size=11, anchor="end", opacity=0.8)
        canvas.text(width, 16, "FDR [95 % interval]", size=11, anchor="end", opacity=0.8)
    for i, pair in enumerate(pairs):
        y = float(top + row * i)
        state = words.standing(pair, tau)
        first, second = (state == side and not pair.weak for side in ("first", "second"))
        if narrow:
            canvas.text(left, y + 13, pair.factor_2, size=13, bold=second, opacity=1 if second else 0.85)
            canvas.text(
                right, y + 13, pair.factor_1, size=13, bold=first, anchor="end", opacity=1 if first else 0.85
            )
            label = words.fdr(pair.fdr.value)
            if pair.fdr.value is not None:
                label += f" {words.fdr_interval(pair.fdr)}"
            canvas.text(middle, y + 13, label, size=11.5, anchor="middle")
            centre = y + 33.0
        else:
            centre = y + row / 2 - 2
            canvas.text(
                left - 10, centre + 5, pair.factor_2, size=14, anchor="end", bold=second,
                opacity=1 if second else 0.85,
            )  # fmt: skip
            canvas.text(
                right + 10, centre + 5, pair.factor_1, size=14, bold=first, opacity=1 if first else 0.85
            )
            undefined = pair.fdr.value is None
            number_at = width if undefined else width - 110
            canvas.text(number_at, centre + 5, words.fdr(pair.fdr.value), size=14, anchor="end", bold=True)
            if not undefined:
                canvas.text(width, centre + 5, words.fdr_interval(pair.fdr), size=12, anchor="end")
        _bar(canvas, pair, x, centre)
    return canvas.markup()


def _bar(canvas: Canvas, pair: PairFinding, x: Callable[[float], float], centre: float) -> None:
    value = pair.fdr.value
    if value is None:
        canvas.line(x(-1), centre, x(1), centre, dash="2 5", opacity=0.5)
        return
    start, end = sorted((x(0.0), x(value)))
    fill = BLUE if value > 0 else canvas.hatch
    canvas.rect(start, centre - 12, end - start, 13, fill, tip=words.plain(words.pair_evidence(pair)))
    edge = BLUE if value > 0 else ORANGE
    canvas.line(x(value), centre - 14, x(value), centre + 3, stroke=edge, width=2.5)
    if pair.fdr.low is not None and pair.fdr.high is not None:
        canvas.whisker(x(pair.fdr.low), x(pair.fdr.high), centre + 6, width=4)
    naive = pair.fdr_naive
    if naive is not None and naive.low is not None and naive.high is not None:
        canvas.whisker(x(naive.low), x(naive.high), centre + 12, width=1.2, cap_height=2.5)
