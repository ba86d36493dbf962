"""What is not about factors at all: sides, and objects taken whatever is said."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from heedful.metrics.rates import wilson
from heedful.spec.rollout import Estimate
from heedful.suites.outcomes import Outcome
from heedful.suites.shares import share


def side_preference(outcomes: Sequence[Outcome]) -> Estimate:
    """Return the share in which the object on the image's left was taken, of those in which one was.

    One half is no preference. Cases come with both arrangements or both instructions, so a
    side preference adds as much to one factor as to the other; it is told apart here.
    """
    taken = [o for o in outcomes if o.on_left is not None]
    return share(taken, lambda o: bool(o.on_left), "rollouts in which one of the two objects was taken")


def same_object(outcomes: Sequence[Outcome]) -> Estimate:
    """Return the share of scenes in which both twins took the same object, of those in which both took one.

    The twins are the two instructions of one scene in one arrangement. A policy that does
    not read the words takes the same object under both.
    """
    scenes: dict[tuple[str, str, str, int | None], dict[str, Outcome]] = defaultdict(dict)
    for o in outcomes:
        if o.on_left is not None and "twin" in o.scoring:
            key = (o.row.policy.ref, o.scoring["quad"], o.scoring["places"], o.training_seed)
            scenes[key][o.scoring["twin"]] = o
    pairs = [both for both in scenes.values() if len(both) == 2]
    found = wilson(sum(both["a"].taken == both["b"].taken for both in pairs), len(pairs))
    return replace(found, method="Wilson over scenes in which an object was taken under both instructions")


def incomplete_units(outcomes: Sequence[Outcome], size: int) -> int:
    """Return the number of conflict scenes of which not all ``size`` rollouts have a label.

    Args:
        outcomes: The conflict arm of a pair.
        size: Rollouts a scene: two instructions, times the arrangements.
    """
    judged: Counter[tuple[str, str, int | None]] = Counter()
    for o in outcomes:
        judged[(o.row.policy.ref, o.scoring["quad"], o.training_seed)] += o.judged
    return sum(1 for count in judged.values() if count < size)
