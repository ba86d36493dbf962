"""What a comparison found, in sentences; rounded here and nowhere before."""

from __future__ import annotations

from heedful.metrics.comparison import MOST_SEEDS, Difference, Ground
from heedful.report.collection.findings import DifferenceFinding
from heedful.report.words import percent, points, points_interval

PART_TITLES = {
    "held_out": "Cells it was not shown",
    "collected": "Cells it was shown",
    "all": "The whole grid",
}
GROUND_TITLES = {
    "own_held_out": "Each on the cells its own plan left out",
    "both_held_out": "On cells that neither was shown",
    "all": "On the whole grid",
}
_GROUNDS: dict[str, str] = {
    "own_held_out": "on the cells each did not collect",
    "both_held_out": "on the cells that neither collected",
    "all": "on all cells",
}


def strategy(name: str) -> str:
    """Return a strategy as pages call it.

    >>> strategy("v"), strategy("v-full"), strategy("random")
    ('V', 'V-full', 'Random')
    """
    return name[:1].upper() + name[1:]


def where(ground: str) -> str:
    """Return on which cells, in words."""
    return _GROUNDS[ground]


def verdict(one: str, other: str, ground: Ground, found: Difference) -> str:
    """Return in words whether the difference is real, and what would separate it if not.

    Args:
        one: What the first is called.
        other: What the second is called.
        ground: On which cells they are compared.
        found: The first minus the second.
    """
    value = found.value.value
    if value is None:
        return f"{one} and {other} cannot be compared {where(ground)}."
    interval = points_interval(found.value, sign=True)
    if found.real:
        better, worse = (one, other) if value > 0 else (other, one)
        return (
            f"{better} beats {worse} {where(ground)} by {percent(abs(value)).removesuffix(' %')} points "
            f"{interval}: real."
        )
    said = f"{one} − {other} {where(ground)}: {points(value, sign=True)} points {interval}"
    if found.parts.seed_count < 2:
        return f"{said}; one training seed cannot tell this from the luck of a training."
    return f"{said}: not settled{_half(found)}. {_need(found)}"


def _half(found: Difference) -> str:
    if found.half_width is None:
        return ""
    return f", the interval is ±{100 * found.half_width:.1f} points"


def _need(found: Difference) -> str:
    """Return what would separate a difference of the observed size."""
    if found.value.value == 0:
        return "The observed difference is 0; nothing would separate it."
    if found.need is None:
        return ""
    seeds, rollouts = found.need.seeds, found.need.rollouts
    if seeds is None:
        first = (
            f"Not even {MOST_SEEDS} training seeds would separate a difference of this size: it changes "
            "too much from cell to cell"
        )
    else:
        first = f"About {seeds} training seeds would separate a difference of this size"
    if rollouts is None:
        return f"{first}; more rollouts alone would not."
    return f"{first}; so would {rollouts:.3g} times the rollouts with the seeds at hand."


def short_verdict(found: DifferenceFinding) -> str:
    """Return the verdict in two words."""
    return "real" if found.real else "not settled"
