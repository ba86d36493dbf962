"""Rows and verdicts, joined to what the numbers need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from heedful.spec.rollout import EpisodeRow, Estimate, Verdict
from heedful.suites.shares import share

LABELS = ("success", "overfit_1", "overfit_2", "neither")
COUNTED = (*LABELS, "crashed", "unjudged")


@dataclass(frozen=True)
class Outcome:
    """How one rollout of the suite ended.

    Attributes:
        row: The rollout.
        result: A label, or ``crashed``, or ``unjudged`` when no judge could tell.
        taken: Object first manipulated, ``None`` if none was.
        on_left: Whether, of the two objects the case is about, the one taken stood further
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
        return self.result in LABELS


def outcome(row: EpisodeRow, verdict: Verdict | None) -> Outcome:
    """Return how ``row`` ended; a crashed rollout has no label whatever a judge says."""
    if row.status == "crashed":
        return Outcome(row, "crashed")
    if verdict is None or verdict.label not in LABELS:
        return Outcome(row, "unjudged")
    evidence = verdict.evidence
    taken = evidence.get("object")
    y = {evidence.get(role): evidence.get(f"y_{role}_m") for role in ("first", "second")}
    on_left = None
    own, other = y.get(taken), next((v for name, v in y.items() if name != taken), None)
    if isinstance(own, float) and isinstance(other, float):
        on_left = own < other  # +y is right in the picture
    return Outcome(row, verdict.label, taken if isinstance(taken, str) else None, on_left)


def tally(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return the number of outcomes by result, every result listed."""
    results = [o.result for o in outcomes]
    return {name: results.count(name) for name in COUNTED}


def label_share(outcomes: Sequence[Outcome], label: str) -> Estimate:
    """Return the share of judged outcomes with ``label``."""
    return share([o for o in outcomes if o.judged], lambda o: o.result == label, "judged rollouts")
