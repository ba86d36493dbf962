"""What one policy's numbers say, in sentences."""

from __future__ import annotations

from dataclasses import dataclass

from heedful.metrics.cells import GroupResult
from heedful.metrics.paraphrase_drop import DropResult
from heedful.metrics.paraphrase_summary import PolicyResult
from heedful.report.paraphrase.names import ACTION_NAMES, OBJECT_NAMES
from heedful.report.words import percent, percent_interval, points, points_interval
from heedful.spec.rollout import Estimate

FEW = 10
"""A kind of paraphrase with fewer rollouts is not called the worst."""

NEAR = 3.0
"""Points between PRIDE and the success rate within which no more is made of it."""

WIDE = 0.2
"""An interval of the drop that holds 0 and is wider than this is too wide to say that nothing changes."""


@dataclass(frozen=True)
class Kind:
    """A kind of paraphrase: one type of one side."""

    side: str
    name: str
    result: GroupResult

    @property
    def sure(self) -> bool:
        """Return whether it is worse than the other kinds beyond its interval."""
        contrast = self.result.contrast
        return contrast is not None and contrast.high is not None and contrast.high < 0


def score(value: float | None, decimals: int = 1) -> str:
    """Return a PRIDE in [0, 100]."""
    return "undefined" if value is None else f"{value:.{decimals}f}"


def score_interval(estimate: Estimate | None) -> str:
    """Return the interval of a PRIDE: ``[56.7, 81.8]``."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return "–"
    return f"[{estimate.low:.1f}, {estimate.high:.1f}]"


def p_value(value: float | None) -> str:
    """Return a p-value.

    >>> p_value(2.4e-8), p_value(0.0312), p_value(None)
    ('p < 0.001', 'p = 0.031', 'no p')
    """
    if value is None:
        return "no p"
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def signed(value: float | None) -> str:
    """Return a correlation with two decimals and a real minus."""
    return "undefined" if value is None else f"{value:.2f}".replace("-", "−")


def overall_drop(policy: PolicyResult) -> DropResult | None:
    """Return the drop over all paraphrases that have a control."""
    return next((drop for drop in policy.drops if drop.name == "all"), None)


def worst_kind(policy: PolicyResult) -> Kind | None:
    """Return the kind of paraphrase that lies furthest below the other kinds within tasks."""
    kinds = [
        Kind(side, names[result.name], result)
        for side, names, results in (
            ("object", OBJECT_NAMES, policy.marginals.object_types),
            ("action", ACTION_NAMES, policy.marginals.action_types),
        )
        for result in results
        if result.name != "none" and result.rollouts >= FEW
    ]
    known = [(k.result.contrast.value, i, k) for i, k in enumerate(kinds) if k.result.contrast is not None]
    worst = min(((v, i, k) for v, i, k in known if v is not None), default=None)
    return worst[2] if worst is not None and worst[0] < 0 else None


def answer(policy: PolicyResult) -> str:
    """Return in one sentence how the policy takes other words."""
    drop = overall_drop(policy)
    rate = f"**{percent(policy.success.value)}**"
    if drop is None or drop.drop.value is None:
        return f"Asked in other words, {policy.name} succeeds in {rate} of rollouts."
    fall, low, high = drop.drop.value, drop.drop.low, drop.drop.high
    if low is not None and high is not None and low <= 0 <= high:
        if high - low > WIDE:
            return (
                f"{rollouts_with_control(drop.pairs)} too few to tell whether other words change what "
                f"{policy.name} can do; it succeeds in {rate}."
            )
        return f"Other words do not measurably change what {policy.name} can do: it succeeds in {rate}."
    more = "fewer" if fall > 0 else "more"
    return (
        f"Asked in other words, {policy.name} succeeds in {rate} of rollouts, "
        f"**{points(abs(fall))} points** {more} than in the original ones."
    )


def rollouts_with_control(pairs: int) -> str:
    """Return the subject of a sentence about rollouts that have an original control."""
    return "One rollout with a control is" if pairs == 1 else f"{pairs:,} rollouts with a control are"


def evidence(policy: PolicyResult) -> str:
    """Return the numbers behind ``answer``: intervals, which kind hurts most, and PRIDE."""
    said = [
        f"{policy.rollouts:,} rollouts of {policy.paraphrases:,} paraphrases of {policy.originals} "
        f"instruction{'' if policy.originals == 1 else 's'}; 95 % interval "
        f"{percent_interval(policy.success)}, clustered by instruction."
    ]
    drop = overall_drop(policy)
    if drop is not None and drop.drop.value is not None:
        said.append(
            f"On the same scenes the original words succeed in {percent(drop.original)}; "
            f"difference {points(drop.drop.value)} points {points_interval(drop.drop)}."
        )
    said.append(kind_sentence(policy))
    said.append(pride_sentence(policy))
    return " ".join(sentence for sentence in said if sentence)


def kind_sentence(policy: PolicyResult) -> str:
    """Return which kind of paraphrase hurts most, or that none surely does; empty without cells."""
    worst = worst_kind(policy)
    if worst is None:
        return ""
    result, contrast = worst.result, worst.result.contrast
    where = (
        f"{percent(result.success.value)}, {points(abs(contrast.value or 0.0))} points below the other "
        f"paraphrases of the same instructions {points_interval(contrast)}"
        if contrast is not None
        else percent(result.success.value)
    )
    what = f"the {worst.side} as **{_with_article(worst.name)}**"
    if worst.sure:
        return f"It fails most with {what}: {where}."
    return f"No kind is surely worse than the others; the lowest is {what}: {where}."


def pride_sentence(policy: PolicyResult) -> str:
    """Return PRIDE and what it adds to the success rate; empty when it is not known."""
    found, rate = policy.pride, policy.success.value
    if found is None or found.value is None or rate is None:
        return ""
    text = f"PRIDE is **{score(found.value)}** {score_interval(found)}"
    gap = 100 * rate - found.value
    if abs(gap) < NEAR:
        return f"{text}, close to the success rate: failures hardly gather where the words are far."
    if found.low is not None and found.high is not None and found.low <= 100 * rate <= found.high:
        return f"{text}; the success rate lies within its interval."
    side, where = ("below", "far from") if gap > 0 else ("above", "close to")
    return (
        f"{text}, {abs(gap):.1f} {side} the success rate: failures gather where the words are {where} "
        "the original."
    )


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
