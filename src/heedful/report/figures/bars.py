"""FDR of every pair as a bar that leans towards the factor the policy followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from heedful.report import words
from heedful.report.findings import PairFinding
from heedful.report.svg import BLUE, GREY, ORANGE, Canvas


@dataclass(frozen=True)
class _Frame:
    """Where things stand: ``left`` to ``right`` is the axis from -1 to +1."""

    row: float
    top: float
    width: float
    left: float
    right: float

    def x(self, value: float) -> float:
        """Return the place of an FDR on the axis."""
        middle, half = (self.left + self.right) / 2, (self.right - self.left) / 2
        return middle + half * max(-1.0, min(1.0, value))


_WIDE = _Frame(row=40.0, top=40.0, width=720.0, left=92.0, right=486.0)
_NARROW = _Frame(row=54.0, top=34.0, width=340.0, left=8.0, right=332.0)


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
    frame = _NARROW if narrow else _WIDE
    bottom = frame.top + frame.row * len(pairs)
    said = "; ".join(
        f"{p.factor_1} against {p.factor_2}: {words.fdr(p.fdr.value)} {words.fdr_interval(p.fdr)}"
        for p in pairs
    )
    title = f"Factor dominance rates of {policy or 'the policy'}"
    canvas = Canvas(key, frame.width, bottom + 26, title, said)
    spans = [(frame.top - 4, bottom)]
    if narrow:  # the words of a row stand above its bar, so the axis leaves them free
        tops = [frame.top + frame.row * i for i in range(len(pairs))]
        spans = [(y + 18, y + 48) for y in tops]
    _axis(canvas, frame, tau, spans, bottom)
    canvas.text(frame.left, 16, "← followed the left one", size=11, opacity=0.8)
    canvas.text(frame.right, 16, "followed the right one →", size=11, anchor="end", opacity=0.8)
    if not narrow:
        canvas.text(frame.width, 16, "FDR [95 % interval]", size=11, anchor="end", opacity=0.8)
    for i, pair in enumerate(pairs):
        y = frame.top + frame.row * i
        state = "" if pair.weak else words.standing(pair, tau)
        if narrow:
            _names(canvas, pair, state, frame.left, frame.right, y + 13, outside=False)
            interval = "" if pair.fdr.value is None else f" {words.fdr_interval(pair.fdr)}"
            number = words.fdr(pair.fdr.value) + interval
            canvas.text(frame.x(0), y + 13, number, size=11.5, anchor="middle")
            _bar(canvas, frame, pair, y + 33)
        else:
            centre = y + frame.row / 2 - 2
            _names(canvas, pair, state, frame.left - 10, frame.right + 10, centre + 5, outside=True)
            undefined = pair.fdr.value is None
            end = frame.width if undefined else frame.width - 110
            canvas.text(end, centre + 5, words.fdr(pair.fdr.value), size=14, anchor="end", bold=True)
            if not undefined:
                canvas.text(frame.width, centre + 5, words.fdr_interval(pair.fdr), size=12, anchor="end")
            _bar(canvas, frame, pair, centre)
    return canvas.markup()


def _axis(
    canvas: Canvas, frame: _Frame, tau: float, spans: Sequence[tuple[float, float]], bottom: float
) -> None:
    for start, end in spans:
        canvas.rect(frame.x(-tau), start, frame.x(tau) - frame.x(-tau), end - start, GREY, opacity=0.3)
    for tick in (-1.0, -0.5, 0.0, 0.5, 1.0):
        x = frame.x(tick)
        for start, end in spans:
            canvas.line(x, start, x, end, opacity=0.14 if tick else 0.55)
        at_edge = abs(tick) == 1 and frame is _NARROW
        anchor = ("start" if tick < 0 else "end") if at_edge else "middle"
        number = f"{tick:+g}".replace("-", "−") if tick else "0"
        canvas.text(x, bottom + 17, number, size=11, anchor=anchor, opacity=0.75)


def _names(
    canvas: Canvas, pair: PairFinding, state: str, left: float, right: float, y: float, *, outside: bool
) -> None:
    """Write factor 2 on the left and factor 1 on the right, a sure winner bold."""
    ends = ("end", "start") if outside else ("start", "end")
    sides = ((left, pair.factor_2, "second"), (right, pair.factor_1, "first"))
    for (x, name, side), anchor in zip(sides, ends, strict=True):
        won = state == side
        canvas.text(x, y, name, size=14, anchor=anchor, bold=won, opacity=1.0 if won else 0.85)


def _bar(canvas: Canvas, frame: _Frame, pair: PairFinding, centre: float) -> None:
    value = pair.fdr.value
    if value is None:
        canvas.line(frame.x(-1), centre, frame.x(1), centre, dash="2 5", opacity=0.5)
        return
    start, end = sorted((frame.x(0.0), frame.x(value)))
    fill, edge = (BLUE, BLUE) if value > 0 else (canvas.hatch, ORANGE)
    canvas.rect(start, centre - 12, end - start, 13, fill, tip=words.pair_evidence(pair))
    canvas.line(frame.x(value), centre - 14, frame.x(value), centre + 3, stroke=edge, width=2.5)
    if pair.fdr.low is not None and pair.fdr.high is not None:
        canvas.whisker(frame.x(pair.fdr.low), frame.x(pair.fdr.high), centre + 6, width=4)
    naive = pair.fdr_naive
    if naive is not None and naive.low is not None and naive.high is not None:
        canvas.whisker(frame.x(naive.low), frame.x(naive.high), centre + 12, width=1.2, cap_height=2.5)
