"""Rows and verdicts, joined to what the numbers need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from heedful.spec.rollout import EpisodeRow, Estimate, Verdict
from heedful.suites.shares import share

LABELS = ("success", "wrong_verb", "wrong_object", "nothing")
COUNTED = (*LABELS, "crashed", "unjudged")


@dataclass(frozen=True)
class Outcome:
    """How one rollout of the suite ended.

    Attributes:
        row: The rollout.
        result: A label, or ``crashed``, or ``unjudged`` when no judge could tell.
        taken: Object first manipulated, ``None`` if none was.
        on_left: Whether, of the target and the confuser it changes places with, the one taken
            stood further left in the agent camera's image; ``None`` if neither was taken.
    """

    row: EpisodeRow
    result: str
    taken: str | None = None
    on_left: bool | None = None

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

    @property
    def success(self) -> bool:
        """Return whether the instruction was carried out."""
        return self.result == "success"


def outcome(row: EpisodeRow, verdict: Verdict | None) -> Outcome:
    """Return how ``row`` ended; a crashed rollout has no label whatever a judge says."""
    if row.status == "crashed":
        return Outcome(row, "crashed")
    if verdict is None or verdict.label not in LABELS:
        return Outcome(row, "unjudged")
    done = verdict.evidence.get("object")
    taken = done if isinstance(done, str) else None
    y = {row.case.scoring.get(r): verdict.evidence.get(f"y_{r}_m") for r in ("target", "other")}
    own, other = y.get(taken), next((v for name, v in y.items() if name != taken), None)
    on_left = None
    if taken is not None and isinstance(own, float) and isinstance(other, float):
        on_left = own < other  # +y is right in the picture
    return Outcome(row, verdict.label, taken, on_left)


def tally(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return the number of outcomes by result, every result listed."""
    results = [o.result for o in outcomes]
    return {name: results.count(name) for name in COUNTED}


def label_share(outcomes: Sequence[Outcome], label: str) -> Estimate:
    """Return the share of judged outcomes with ``label``."""
    return share([o for o in outcomes if o.judged], lambda o: o.result == label, "judged rollouts")


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
