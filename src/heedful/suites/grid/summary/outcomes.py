"""What a rollout of the grid suite counts as, and which side policies take from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from heedful.spec.manipulation import TASK_LABELS
from heedful.spec.rollout import EpisodeRow, Estimate, Verdict
from heedful.suites import outcomes as suite
from heedful.suites.outcomes import Outcome, ended, taken_on_left
from heedful.suites.shares import share


def outcome(row: EpisodeRow, verdict: Verdict | None) -> Outcome:
    """Return how ``row`` ended."""
    result = ended(row, verdict, TASK_LABELS)
    if verdict is None or result not in TASK_LABELS:
        return Outcome(row, result)
    done = verdict.evidence.get("object")
    taken = done if isinstance(done, str) else None
    y_m = {row.case.scoring.get(r): verdict.evidence.get(f"y_{r}_m") for r in ("target", "other")}
    return Outcome(row, result, taken, taken_on_left(taken, y_m))


def tally(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return the number of outcomes by result, every result listed."""
    return suite.tally(outcomes, TASK_LABELS)


def by_unit(outcomes: Iterable[Outcome]) -> list[list[Outcome]]:
    """Return the outcomes of each scene of each policy together: its arrangements."""
    units: dict[tuple[str, str, int | None], list[Outcome]] = defaultdict(list)
    for o in outcomes:
        units[o.row.policy.ref, o.scoring["unit"], o.training_seed].append(o)
    return list(units.values())


def side_preference(outcomes: Iterable[Outcome]) -> Estimate:
    """Return the share in which the object on the image's left was taken; one half is none.

    Counted are rollouts in which the target or the confuser it changes places with was taken,
    of scenes judged in both arrangements: there, either object stood on either side once.
    """
    balanced = [
        o
        for unit in by_unit(outcomes)
        if {o.scoring["places"] for o in unit if o.judged} == {"plain", "swapped"}
        for o in unit
        if o.on_left is not None
    ]
    return share(balanced, lambda o: bool(o.on_left), "rollouts in which one of the two objects was taken")
