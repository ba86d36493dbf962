"""What to know before believing which failures are near and which are far, as sentences."""

from __future__ import annotations

from dataclasses import dataclass

from heedful.metrics.path_failures import PolicyFailures
from heedful.report.failures.material import Material

NARROW_M = 0.01
"""A corridor narrower than this takes a miss by a finger's width for another way."""

_MOVED = 0.05
"""Another way to measure the corridor is worth a sentence where it moves the share by this much."""


@dataclass(frozen=True)
class Widths:
    """Failures that are far at the widest threshold, by how the corridor's width is measured.

    Attributes:
        failures: Those of the arms that count whose task has a corridor.
        used: Far as reported.
        published: Far when the width is the largest distance of a success, and nothing else.
        left_out: Far when it is the largest distance of a success from the mean of the others.
    """

    failures: int
    used: int
    published: int
    left_out: int

    @staticmethod
    def of(policy: PolicyFailures) -> Widths:
        """Return the counts of ``policy``."""
        pairs = [
            (failure.distance_m, task.corridor)
            for task in policy.tasks
            if task.corridor is not None
            for failure in task.failures
            if failure.path.arm in policy.arms_counted
        ]
        return Widths(
            len(pairs),
            sum(d > c.thresholds_m["max"] for d, c in pairs),
            sum(d > float(c.distances_m.max()) for d, c in pairs),
            sum(d > float(c.left_out_m.max()) for d, c in pairs),
        )


def remarks(material: Material) -> tuple[str, ...]:
    """Return the sentences, the one on the frame first."""
    found = [_frame(material)]
    several = len(material.policies) > 1
    for policy in material.policies:
        who = f"{policy.name}: " if several else ""
        found += [f"{who}{sentence}" for sentence in _of(policy, material)]
    return tuple(found)


def _frame(material: Material) -> str:
    if material.method.frame == "world":
        return "Paths are compared in the world's frame, as published."
    why = "the target stands elsewhere from episode to episode" if material.frame_chosen else "as asked for"
    width = material.method.least_width_m
    said = f", and no corridor is narrower than {100 * width:g} cm (published: none)" if width else ""
    return f"Paths are moved to one place of the target before they are compared ({why}){said}."


def _of(policy: PolicyFailures, material: Material) -> list[str]:
    found = []
    without = [t for t in policy.tasks if t.corridor is None]
    lost = policy.total.unclassified
    if lost:
        found.append(
            f"{lost} of {policy.total.failures} failures are left out: their tasks have fewer than "
            f"{material.method.least_successes} successes, too few for a corridor "
            f"({len(without)} of {len(policy.tasks)} tasks)."
        )
    corridors = [t.corridor for t in policy.tasks if t.corridor is not None]
    narrow = sum(c.thresholds_m["max"] < NARROW_M for c in corridors)
    if narrow:
        found.append(
            f"{narrow} of {len(corridors)} corridors are narrower than {100 * NARROW_M:g} cm: there even a "
            "miss by a finger's width counts as far. --least-width 0.03 widens them."
        )
    widths = Widths.of(policy)
    if widths.failures and abs(widths.published - widths.used) / widths.failures >= _MOVED:
        found.append(
            f"{widths.used} of {widths.failures} failures are far; {widths.published} would be, were the "
            "corridor as wide as its successes alone make it (the published rule)."
        )
    if widths.failures and (widths.published - widths.left_out) / widths.failures >= _MOVED:
        found.append(
            f"By the published rule {widths.published} of {widths.failures} failures are far, but "
            f"{widths.left_out} when each success is compared with the mean of the others: few successes "
            "make the published corridor too narrow."
        )
    return found
