"""What rows and verdicts add up to: the content of ``metrics.json``.

``policies`` holds one entry a policy name; its training seeds are pooled and listed.
Numbers are unrounded, rates are ``Estimate``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.suites.grid.axes import Axes
from heedful.suites.grid.options import GridOptions
from heedful.suites.grid.summary.outcomes import outcome
from heedful.suites.grid.summary.policy import summarise_policy
from heedful.suites.outcomes import Outcome


def _warnings(rows: Sequence[EpisodeRow], axes: Axes) -> list[str]:
    """Return what holds for every policy of the run."""
    found = [] if rows else ["There are no rollouts yet."]
    place = axes.showing("region")
    others = [factor for factor in axes.object_factors if factor != place]
    if place is not None and others:
        found.append(
            f"No two objects of a scene stand in one place, so {place} alone tells the target apart: "
            f"success here does not need {' or '.join(others)}."
        )
    return found


def summarise(
    rows: Sequence[EpisodeRow], verdicts: Mapping[str, Verdict], options: GridOptions
) -> dict[str, Any]:
    """Return everything measured.

    Args:
        rows: Every rollout of the run, crashed ones included.
        verdicts: Episode id -> what the judge said; a missing one counts as unjudged.
        options: The suite's options.
    """
    axes = options.axes()
    by_policy: dict[str, list[Outcome]] = {}
    for row in rows:
        by_policy.setdefault(row.policy.name, []).append(outcome(row, verdicts.get(row.id)))
    policies = [summarise_policy(name, axes, own) for name, own in by_policy.items()]
    return {
        "takeaway": " ".join(policy["takeaway"] for policy in policies),
        "grid": {
            "name": axes.name,
            "factors": [{"name": f.name, "values": list(f.values)} for f in axes.factors],
        },
        "judge": ", ".join(sorted({v.judge for v in verdicts.values()})),
        "policies": policies,
        "warnings": _warnings(rows, axes),
    }
