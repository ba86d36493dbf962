"""When numbers should not be believed, said in words."""

from __future__ import annotations

from collections.abc import Sequence

from heedful.spec.rollout import Estimate
from heedful.spec.vocabulary import Binding, Vocabulary
from heedful.suites.factors.cases import places
from heedful.suites.factors.summary.balance import incomplete_units, same_object, side_preference
from heedful.suites.outcomes import Outcome, beyond_robot, impossible, label_share, losses
from heedful.suites.shares import percent

LEAST_SUCCESS = 0.8
MOST_NEITHER = 0.4
"""A policy below the one in distribution, or above the other in conflict, is weak."""


def is_weak(in_distribution: Estimate, neither: Estimate) -> bool:
    """Return whether a policy can do too little for its FDR to mean much."""
    return (in_distribution.value is not None and in_distribution.value < LEAST_SUCCESS) or (
        neither.value is not None and neither.value > MOST_NEITHER
    )


def pair_warnings(
    vocabulary: Vocabulary,
    binding: Binding,
    conflict: Sequence[Outcome],
    seen: Sequence[Outcome],
    wordless: Sequence[Outcome],
) -> list[str]:
    """Return what a reader of this pair's numbers must know, one sentence each."""
    found = []
    success, neither = label_share(seen, "success"), label_share(conflict, "neither")
    if success.value is None:
        found.append("No in-distribution rollouts: what the policy can do is unknown.")
    elif success.value < LEAST_SUCCESS:
        found.append(
            f"Succeeds in {percent(success.value)} of the in-distribution tasks "
            "(combinations bound in training): too weak for its FDR to mean much."
        )
    if neither.value is not None and neither.value > MOST_NEITHER:
        found.append(
            f"{percent(neither.value)} of the conflict rollouts are neither: "
            "too weak for its FDR to mean much."
        )
    if conflict and not any(o.result in ("overfit_1", "overfit_2") for o in conflict):
        found.append("No rollout follows either factor, so the FDR is undefined (not zero).")
    partial = incomplete_units(conflict, 2 * len(places(vocabulary, binding)))
    if partial:
        found.append(
            f"{partial} conflict {'scene lacks' if partial == 1 else 'scenes lack'} a judged rollout: "
            "sides and instructions do not balance there."
        )
    same = same_object(conflict)
    if same.low is not None and same.low > 0.5:
        found.append(
            f"In most scenes it takes the same object whatever it is told ({percent(same.value or 0)})."
        )
    empty = label_share(wordless, "success")
    if empty.low is not None and empty.low > 0.5:
        found.append(
            f"Succeeds in {percent(empty.value or 0)} of scenes without any words: the scene tells the task."
        )
    side = side_preference(conflict)
    if side.low is not None and side.high is not None and not side.low <= 0.5 <= side.high:
        which = "left" if side.low > 0.5 else "right"
        found.append(
            f"Prefers the object on the image's {which}; by design this adds as much to either factor."
        )
    everything = [*conflict, *seen, *wordless]
    found += losses(everything) + impossible(everything) + beyond_robot(everything)
    return found
