"""How well a judge agrees with a reference labelling, per label and beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heedful.metrics.rates import wilson
from heedful.spec.rollout import Estimate


@dataclass(frozen=True)
class Agreement:
    """A judge beside a reference, over the rollouts that both labelled.

    Attributes:
        overall: Share of rollouts with the reference's label.
        per_label: Reference label -> share of its rollouts that the judge gave that label.
        kappa: Cohen's kappa, agreement beyond chance.
        confusion: Reference label -> the judge's label -> rollouts.
        abstained: Rollouts without a label from the judge; in none of the numbers above.
    """

    overall: Estimate
    per_label: Mapping[str, Estimate]
    kappa: Estimate
    confusion: Mapping[str, Mapping[str, int]]
    abstained: int


def agreement(judged: Sequence[str | None], reference: Sequence[str], level: float = 0.95) -> Agreement:
    """Return how well the labels in ``judged`` agree with those in ``reference``.

    Args:
        judged: The judge's label of each rollout, ``None`` where it abstained.
        reference: The reference's label, in the same order.
        level: Confidence level of the intervals.

    >>> found = agreement(["success", "neither", None], ["success", "success", "neither"])
    >>> found.overall.value, found.per_label["success"].n, found.abstained
    (0.5, 2, 1)
    """
    both = [(theirs, ours) for ours, theirs in zip(judged, reference, strict=True) if ours is not None]
    counts = Counter(both)
    labels = list(dict.fromkeys(label for pair in both for label in pair))
    totals = Counter(theirs for theirs, _ in both)
    agreed = sum(counts[label, label] for label in labels)
    return Agreement(
        overall=wilson(agreed, len(both), level),
        per_label={label: wilson(counts[label, label], totals[label], level) for label in totals},
        kappa=cohen_kappa(both, level),
        confusion={
            theirs: {ours: counts[theirs, ours] for ours in labels if counts[theirs, ours]}
            for theirs in totals
        },
        abstained=len(judged) - len(both),
    )


def cohen_kappa(pairs: Sequence[tuple[str, str]], level: float = 0.95) -> Estimate:
    """Return Cohen's kappa of two labellings.

    kappa = (o - e) / (1 - e), with o the share of equal labels and e the share expected by
    chance from both labellers' frequencies (Cohen, 1960). The ends put the Wilson limits
    of o in its place with e held fixed, as Cohen's own standard error does, so that perfect
    agreement on few rollouts keeps a width.

    Args:
        pairs: The two labels of each rollout.
        level: Confidence level in (0, 1).

    Returns:
        Undefined where nothing was labelled or both gave one and the same label throughout.

    >>> pairs = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15
    >>> round(cohen_kappa(pairs).value, 3)
    0.4
    """
    n, method = len(pairs), "Wilson limits of the agreement at fixed chance"
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    matched = sum(first[label] * second[label] for label in first)
    if n == 0 or matched == n * n:
        return Estimate(None, None, None, n, method, level)
    chance = matched / (n * n)
    observed = wilson(sum(a == b for a, b in pairs), n, level)
    value, low, high = (
        None if share is None else (share - chance) / (1 - chance)
        for share in (observed.value, observed.low, observed.high)
    )
    return Estimate(value, low, high, n, method, level)
