"""Rows and verdicts of any suite, joined to what its numbers need."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heedful.spec.rollout import EpisodeRow, Estimate, Verdict
from heedful.suites.shares import share

CRASHED, UNJUDGED = "crashed", "unjudged"
MOST_CLIPPED = 0.01
"""Share of clipped actions above which a reader is told."""

_NAMED = 3  # rollouts that a warning lists


@dataclass(frozen=True)
class Outcome:
    """How one rollout ended.

    Attributes:
        row: The rollout.
        result: A label, or ``crashed``, or ``unjudged`` when no judge could tell.
        taken: Object first manipulated, ``None`` if none was.
        on_left: Whether, of the two objects that change places, the one taken stood further
            left in the agent camera's image; ``None`` if neither was taken.
    """

    row: EpisodeRow
    result: str
    taken: str | None = None
    on_left: bool | None = None

    @property
    def arm(self) -> str:
        """Return the arm of its case."""
        return self.row.case.arm

    @property
    def scoring(self) -> Mapping[str, str]:
        """Return the scoring of its case."""
        return self.row.case.scoring

    @property
    def training_seed(self) -> int | None:
        """Return the training seed of its policy."""
        return self.row.policy.training_seed

    @property
    def judged(self) -> bool:
        """Return whether it has a label."""
        return self.result not in (CRASHED, UNJUDGED)

    @property
    def success(self) -> bool:
        """Return whether the instruction was carried out."""
        return self.result == "success"


def ended(row: EpisodeRow, verdict: Verdict | None, labels: Collection[str]) -> str:
    """Return the result of ``row``; a crashed rollout has no label whatever a judge says."""
    if row.status == "crashed":
        return CRASHED
    return UNJUDGED if verdict is None or verdict.label not in labels else str(verdict.label)


def taken_on_left(taken: str | None, y_m: Mapping[Any, Any]) -> bool | None:
    """Return whether the object taken stood left of the other one; ``None`` if neither was taken.

    Args:
        taken: The object.
        y_m: The two objects -> where each stood; greater is further right in the picture.
    """
    own, other = y_m.get(taken), next((y for name, y in y_m.items() if name != taken), None)
    return own < other if taken is not None and isinstance(own, float) and isinstance(other, float) else None


def tally(outcomes: Iterable[Outcome], labels: Sequence[str]) -> dict[str, int]:
    """Return the number of outcomes by result: every label, then crashed and unjudged."""
    results = [o.result for o in outcomes]
    return {name: results.count(name) for name in (*labels, CRASHED, UNJUDGED)}


def label_share(outcomes: Sequence[Outcome], label: str) -> Estimate:
    """Return the share of judged outcomes with ``label``."""
    return share([o for o in outcomes if o.judged], lambda o: o.result == label, "judged rollouts")


def losses(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a sentence for the rollouts that crashed, and one for those without a label."""
    found = []
    for result, words in ((CRASHED, "crashed"), (UNJUDGED, "could not be judged")):
        count = sum(o.result == result for o in outcomes)
        if count:
            found.append(f"{count} of {len(outcomes)} rollouts {words}; they are in no rate.")
    return found


def beyond_robot(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a sentence if many actions had to be clipped: the policy means its numbers otherwise."""
    clipped, steps = sum(o.row.clipped for o in outcomes), sum(o.row.steps for o in outcomes)
    if clipped <= MOST_CLIPPED * steps:
        return []
    return [
        f"{clipped} of {steps} executed actions had numbers beyond what the robot can do (a gripper outside "
        "0 to 1, a jump) and were clipped: its conventions may be other ones, see `heedful check --policy`."
    ]


def impossible(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a sentence for the verdicts that contradict themselves, if there are any."""
    found = [o.row.id for o in outcomes if is_impossible(o)]
    if not found:
        return []
    shown = ", ".join(found[:_NAMED]) + (", ..." if len(found) > _NAMED else "")
    what = "verdict is" if len(found) == 1 else "verdicts are"
    return [f"{len(found)} {what} impossible (success without the target): {shown}."]


def is_impossible(o: Outcome) -> bool:
    """Return whether a verdict contradicts itself: success where none can be, or on another object."""
    return o.success and o.taken != o.scoring.get("target")


def trained_with(outcomes: Iterable[Outcome]) -> list[int | None]:
    """Return the training seeds in order, an unknown one last."""
    return sorted({o.training_seed for o in outcomes}, key=lambda seed: (seed is None, seed))
