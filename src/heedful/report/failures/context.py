"""Turns near and far failures into what their template prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from heedful.metrics.path_failures import Group, PolicyFailures, Task
from heedful.metrics.paths import THRESHOLDS, percentiles
from heedful.metrics.rates import wilson
from heedful.report import words
from heedful.report.failures.corridor_figure import MOST_DRAWN, corridor_figure
from heedful.report.failures.material import Material
from heedful.report.failures.remarks import Widths, remarks
from heedful.report.failures.spread_figure import spread_figure
from heedful.report.figures.shares import share_rows

_MOST_TASKS = 9
"""Tasks drawn for a policy: those with the most failures."""


@dataclass(frozen=True, eq=False)
class PolicyView:
    """A policy with its sentences and figures."""

    finding: PolicyFailures
    key: str
    answer: str
    tiles: tuple[tuple[str, str, str], ...]
    sweep: Markup
    published_sweep: Markup | None
    spread: Markup | None
    drawn: tuple[tuple[Task, Markup, int, int], ...]
    undrawn: int
    groups: tuple[tuple[str, tuple[Group, ...]], ...]


def page_context(material: Material) -> dict[str, Any]:
    """Return the names that ``failures.html.j2`` uses."""
    frame, *warnings = remarks(material)
    return {
        "name": material.name,
        "made_at": material.made_at,
        "material": material,
        "thresholds": list(THRESHOLDS),
        "frame": frame,
        "warnings": warnings,
        "policies": [_view(p, material, f"p{i}") for i, p in enumerate(material.policies)],
        "most_drawn": MOST_DRAWN,
    }


def _view(policy: PolicyFailures, material: Material, key: str) -> PolicyView:
    failing = sorted(
        ((t, *_counts(t, policy.arms_counted)) for t in policy.tasks if t.corridor is not None),
        key=lambda item: -(item[1] + item[2]),
    )
    failing = [item for item in failing if item[1] + item[2]]
    drawn = tuple(
        (task, corridor_figure(task, f"{key}-task{i}", policy.arms_counted), near, far)
        for i, (task, near, far) in enumerate(failing[:_MOST_TASKS])
    )
    inside, outside = _multiples(policy)
    rows = [(name, share.rate) for name, share in policy.total.shares.items()]
    return PolicyView(
        finding=policy,
        key=key,
        answer=_answer(policy),
        tiles=_tiles(policy),
        sweep=share_rows(rows, f"{key}-sweep", f"Far failures of {policy.name} by threshold"),
        published_sweep=_published_sweep(policy, f"{key}-published")
        if material.method.least_width_m
        else None,
        spread=spread_figure(inside, outside, f"{key}-spread", policy.name) if outside else None,
        drawn=drawn,
        undrawn=len(failing) - len(drawn),
        groups=tuple(
            (title, groups)
            for title, groups in (
                ("arm", policy.arms),
                ("category", policy.categories),
                ("cell", policy.cells),
            )
            if groups
        ),
    )


def _published_sweep(policy: PolicyFailures, key: str) -> Markup:
    """Return the sweep with corridors as wide as their successes alone make them."""
    far, all_ = Counter[str](), 0
    for task in policy.tasks:
        limits = percentiles(task.corridor.distances_m) if task.corridor is not None else {}
        for failure in task.failures:
            if failure.path.arm in policy.arms_counted:
                all_ += 1
                far.update(name for name, limit in limits.items() if failure.distance_m > limit)
    rows = [(name, wilson(far[name], all_)) for name in THRESHOLDS]
    return share_rows(rows, key, f"Far failures of {policy.name} by the published rule")


def _counts(task: Task, arms: Sequence[str]) -> tuple[int, int]:
    """Return near and far failures of a task at the widest threshold."""
    near = [f.near["max"] for f in task.failures if f.path.arm in arms]
    return near.count(True), near.count(False)


def _multiples(policy: PolicyFailures) -> tuple[list[float], list[float]]:
    """Return the distances of successes and of failures in units of their task's widest threshold."""
    inside: list[float] = []
    outside: list[float] = []
    for task in policy.tasks:
        if task.corridor is None:
            continue
        width = max(task.corridor.thresholds_m["max"], 1e-9)  # a policy may repeat itself to the bit
        inside += [float(d) / width for d in task.corridor.distances_m]
        outside += [f.distance_m / width for f in task.failures if f.path.arm in policy.arms_counted]
    return inside, outside


def _answer(policy: PolicyFailures) -> str:
    share = policy.total.shares["max"]
    all_ = share.near + share.far
    if not policy.total.failures:
        return f"**{policy.name}** never failed."
    if not all_:
        return f"**{policy.name}** has no failure that could be told near or far."
    at = f"{words.percent(share.rate.value, 0)} of {all_:,} failures {words.percent_interval(share.rate)}"
    if share.rate.low is not None and share.rate.low > 0.5:
        return f"**{policy.name}** mostly goes **elsewhere** when it fails: {at} are far."
    if share.rate.high is not None and share.rate.high < 0.5:
        return f"**{policy.name}** mostly goes the **right way** and misses: only {at} are far."
    return f"**{policy.name}** fails in both ways, or too seldom to say: {at} are far."


def _tiles(policy: PolicyFailures) -> tuple[tuple[str, str, str], ...]:
    total = policy.total
    share = total.shares["max"]
    widths = Widths.of(policy)
    left_out = ", ".join(f"{n} {reason}" for reason, n in policy.left_out.items())
    return (
        (
            "Far: planning",
            words.percent(share.rate.value),
            f"{words.percent_interval(share.rate)}; {share.far} of {share.far + share.near}",
        ),
        (
            "By the published rule",
            _percent(widths.published, widths.failures),
            "no least width: as wide as the farthest success",
        ),
        (
            "Each success left out",
            _percent(widths.left_out, widths.failures),
            "as wide as the farthest success is from the mean of the others",
        ),
        (
            "Failures",
            f"{total.failures:,}",
            f"of {total.failures + total.successes:,} episodes; {total.unclassified} without a corridor",
        ),
        ("Left out", str(sum(policy.left_out.values())), left_out or "nothing crashed, no judge abstained"),
    )


def _percent(count: int, all_: int) -> str:
    return words.percent(count / all_ if all_ else None)
