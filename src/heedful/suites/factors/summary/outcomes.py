"""What a rollout of the factors suite counts as."""

from __future__ import annotations

from collections.abc import Iterable

from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.suites import outcomes as suite
from heedful.suites.outcomes import Outcome, ended, taken_on_left

LABELS = ("success", "overfit_1", "overfit_2", "neither")


def outcome(row: EpisodeRow, verdict: Verdict | None) -> Outcome:
    """Return how ``row`` ended."""
    result = ended(row, verdict, LABELS)
    if verdict is None or result not in LABELS:
        return Outcome(row, result)
    evidence = verdict.evidence
    done = evidence.get("object")
    taken = done if isinstance(done, str) else None
    y_m = {evidence.get(role): evidence.get(f"y_{role}_m") for role in ("first", "second")}
    return Outcome(row, result, taken, taken_on_left(taken, y_m))


def tally(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return the number of outcomes by result, every result listed."""
    return suite.tally(outcomes, LABELS)
