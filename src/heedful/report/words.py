"""Numbers and findings as words; the only place where the report rounds.

Factor names that a sentence is about are wrapped in ``**``; the page prints them strong,
``plain`` drops the marks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from heedful.report.findings import HierarchyFinding, PairFinding, PolicyFinding
from heedful.spec.rollout import Estimate

Standing = Literal["first", "second", "leans_first", "leans_second", "unsettled", "tie", "undefined"]
UNDEFINED = "undefined"
_NOUNS = {"spatial": "spatial word"}


def fdr(value: float | None) -> str:
    """Return an FDR with its sign and two decimals.

    >>> fdr(-0.314), fdr(0.0), fdr(None)
    ('−0.31', '0.00', 'undefined')
    """
    if value is None:
        return UNDEFINED
    rounded = round(value, 2)
    return "0.00" if rounded == 0 else f"{rounded:+.2f}".replace("-", "−")


def short_fdr(value: float) -> str:
    """Return an FDR for narrow places, without plus sign and leading zero.

    >>> short_fdr(-0.314), short_fdr(0.5), short_fdr(1.0)
    ('−.31', '.50', '1.00')
    """
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−").replace("0.", ".", 1)


def percent(value: float | None, decimals: int = 1) -> str:
    """Return a share as percent.

    >>> percent(0.975), percent(1.0, 0), percent(None)
    ('97.5 %', '100 %', '–')
    """
    return "–" if value is None else f"{100 * value:.{decimals}f} %"


def fdr_interval(estimate: Estimate | None) -> str:
    """Return the interval of an FDR, ``[−0.62, +0.02]``."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return "–"
    return f"[{fdr(estimate.low)}, {fdr(estimate.high)}]"


def percent_interval(estimate: Estimate | None) -> str:
    """Return the interval of a share in percent, ``[94.2, 99.1]``."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return "–"
    return f"[{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def points(value: float | None, sign: bool = False) -> str:
    """Return a difference of rates in percentage points, with a real minus.

    Args:
        value: The difference, in [-1, 1].
        sign: Whether a gain is marked, too.

    >>> points(0.2431), points(0.0734, sign=True), points(-0.02), points(-0.0001)
    ('24.3', '+7.3', '−2.0', '0.0')
    """
    if value is None:
        return "–"
    rounded = round(100 * value, 1) + 0.0
    return "0.0" if rounded == 0 else f"{rounded:{'+' if sign else ''}.1f}".replace("-", "−")


def points_interval(estimate: Estimate | None, sign: bool = False) -> str:
    """Return the interval of a difference in percentage points, ``[−2.1, 6.4]``."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return "–"
    return f"[{points(estimate.low, sign)}, {points(estimate.high, sign)}]"


def listed(names: Sequence[str]) -> str:
    """Return names as a list in prose.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def order(levels: Sequence[Sequence[str]]) -> str:
    """Return a hierarchy on one line; factors of one level are a tie.

    >>> order([["color"], ["object", "spatial"], ["size"]])
    'color › object = spatial › size'
    """
    return " › ".join(" = ".join(level) for level in levels)


def tidied(words: str) -> str:
    """Return a sentence of the suite in this page's typography.

    >>> tidied('Told "lift", in 28% (FDR -0.40 [-0.59, -0.17])')
    'Told “lift”, in 28 % (FDR −0.40 [−0.59, −0.17])'
    """
    signed = re.sub(r"(?<![\w-])-(?=\d)", "−", re.sub(r'"([^"]*)"', r"“\1”", words))
    return re.sub(r"(?<=\d)%", " %", signed)


def plain(words: str) -> str:
    """Return ``words`` without the marks."""
    return words.replace("**", "")


def standing(pair: PairFinding, tau: float) -> Standing:
    """Return which factor won, or why none did.

    A factor won when FDR is beyond ``tau`` and its interval excludes 0. It is a tie only when
    the whole interval lies within ``tau``. Everything else is not settled; it leans to a
    factor when FDR is beyond ``tau``.
    """
    value, low, high = pair.fdr.value, pair.fdr.low, pair.fdr.high
    if value is None:
        return "undefined"
    if low is not None and high is not None and -tau <= low and high <= tau:
        return "tie"
    if abs(value) <= tau:
        return "unsettled"
    if low is not None and high is not None and (low > 0 or high < 0):
        return "first" if value > 0 else "second"
    return "leans_first" if value > 0 else "leans_second"


def the(factor: str) -> str:
    """Return a factor as the noun of a sentence, marked: ``the **color**``."""
    return f"the **{_NOUNS.get(factor, factor)}**"


def pair_answer(policy: str, pair: PairFinding, tau: float) -> str:
    """Return in one sentence what ``policy`` does when the pair's factors conflict."""
    clash = f"When {pair.factor_1} and {pair.factor_2} conflict"
    if pair.weak:
        return (
            f"{policy} can do too little here to say whether it follows {pair.factor_1} or {pair.factor_2}."
        )
    either = f"{pair.factor_1} or {pair.factor_2}"
    open_question = f"{pair.counts.judged} rollouts do not settle whether {policy} follows {either}"
    match standing(pair, tau):
        case "first":
            return f"{clash}, {policy} follows {the(pair.factor_1)}."
        case "second":
            return f"{clash}, {policy} follows {the(pair.factor_2)}."
        case "leans_first":
            return f"{open_question}; it leans to {the(pair.factor_1)}."
        case "leans_second":
            return f"{open_question}; it leans to {the(pair.factor_2)}."
        case "unsettled":
            return f"{open_question}."
        case "tie":
            return f"{clash}, {policy} follows both equally often: a tie."
        case "undefined":
            return f"{clash}, {policy} never follows one of them alone, so its FDR is undefined."


def pair_evidence(pair: PairFinding) -> str:
    """Return the numbers behind ``pair_answer``: FDR, interval and counts."""
    c = pair.counts
    if pair.fdr.value is None:
        return (
            f"FDR undefined (not zero): none of {c.judged} judged rollouts followed {pair.factor_1} or "
            f"{pair.factor_2} alone; {c.success} succeeded, {c.neither} did neither."
        )
    level = f"{100 * pair.fdr.level:.0f} %"
    return (
        f"FDR {fdr(pair.fdr.value)}, {level} interval {fdr_interval(pair.fdr)}. Of {c.judged} judged "
        f"rollouts {c.overfit_1} followed {pair.factor_1}, {c.overfit_2} {pair.factor_2}, "
        f"{c.success} succeeded and {c.neither} did neither."
    )


def hierarchy_answer(policy: str, hierarchy: HierarchyFinding) -> str:
    """Return in one sentence which factors come first and last."""
    levels = hierarchy.levels
    if len(levels) < 2:
        return f"{policy} puts no factor above another: all are tied."
    top, last = levels[0], levels[-1]
    tied_top = " (tied)" if len(top) > 1 else ""
    tied_last = " (tied)" if len(last) > 1 else ""
    first = listed([f"**{name}**" for name in top])
    final = listed([f"**{name}**" for name in last])
    return f"{policy} listens to {first} first{tied_top} and to {final} last{tied_last}."


def hierarchy_evidence(hierarchy: HierarchyFinding) -> str:
    """Return the whole order and how sure it is."""
    words = f"The order is {order(hierarchy.levels)}."
    if hierarchy.sure is not None:
        words += f" {percent(hierarchy.sure, 0)} of draws from the uncertainty keep exactly this order"
        weakest = min(hierarchy.order_kept, key=lambda step: step.sure, default=None)
        if weakest is not None:
            words += (
                f"; its least certain step, {listed(weakest.above)} before {listed(weakest.below)}, "
                f"is kept in {percent(weakest.sure, 0)}"
            )
        words += "."
    return words


def policy_answer(policy: PolicyFinding, tau: float) -> tuple[str, str]:
    """Return the answer for one policy and the evidence for it, a sentence or two each."""
    if policy.hierarchy is not None:
        return hierarchy_answer(policy.name, policy.hierarchy), hierarchy_evidence(policy.hierarchy)
    if not policy.pairs:
        return f"{policy.name} has no judged conflict rollouts yet.", ""
    if len(policy.pairs) == 1:
        pair = policy.pairs[0]
        return pair_answer(policy.name, pair, tau), tidied(pair.takeaway) or pair_evidence(pair)
    sure = [p for p in policy.pairs if standing(p, tau) in ("first", "second") and not p.weak]
    weak = sum(p.weak for p in policy.pairs)
    if weak == len(policy.pairs):
        return f"{policy.name} can do too little for its preferences to mean anything.", ""
    words = f"{policy.name} shows a sure preference in {len(sure)} of {len(policy.pairs)} pairs of factors."
    wins = [
        f"{winner} over {loser}"
        for p in sure
        for winner, loser in [
            (p.factor_1, p.factor_2) if (p.fdr.value or 0) > 0 else (p.factor_2, p.factor_1)
        ]
    ]
    evidence = (
        f"It follows {listed(wins)}."
        if wins
        else "No FDR beyond the tie threshold has an interval that excludes zero."
    )
    return words, evidence + (f" It is too weak in {weak} of the pairs to say." if weak else "")
