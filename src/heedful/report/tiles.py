"""The few numbers that stand on the first screen."""

from __future__ import annotations

from heedful.report import words
from heedful.report.findings import PairFinding, PolicyFinding
from heedful.spec.rollout import Estimate

Tile = tuple[str, str, str]
"""What it is, the number, a remark."""


def tiles(policy: PolicyFinding, tau: float) -> tuple[Tile, ...]:
    """Return the numbers of one policy: those of its pair, or the extremes over its pairs."""
    pairs = policy.pairs
    if not pairs:
        return ()
    judged, crashed = sum(p.counts.judged for p in pairs), sum(p.counts.crashed for p in pairs)
    rollouts = ("Conflict rollouts", f"{judged:,}", f"{crashed} crashed, counted apart")
    return (*(_one(pairs[0]) if len(pairs) == 1 else _several(pairs, tau)), rollouts)


def _one(pair: PairFinding) -> tuple[Tile, ...]:
    undefined = pair.fdr.value is None
    return (
        (
            "FDR",
            words.fdr(pair.fdr.value),
            "nothing was overfit" if undefined else f"95 % interval {words.fdr_interval(pair.fdr)}",
        ),
        _share("Success in distribution", _seen(pair)),
        _share("Neither", pair.neither),
        _same_object(pair.same_object),
    )


def _several(pairs: tuple[PairFinding, ...], tau: float) -> tuple[Tile, ...]:
    seen = [(e.value, p) for p in pairs if (e := _seen(p)) is not None and e.value is not None]
    worst = min(seen, key=lambda item: item[0], default=None)
    most = max(pairs, key=lambda p: p.counts.share("neither") or 0.0)
    sure = sum(words.standing(p, tau) in ("first", "second") and not p.weak for p in pairs)
    return (
        ("Pairs with a sure winner", f"{sure} of {len(pairs)}", "the interval excludes zero"),
        (
            "Lowest success in distribution",
            words.percent(worst[0] if worst else None),
            f"{worst[1].factor_1} and {worst[1].factor_2}" if worst else "not measured",
        ),
        (
            "Most rollouts with neither",
            words.percent(most.counts.share("neither")),
            f"{most.factor_1} and {most.factor_2}",
        ),
    )


def _share(name: str, estimate: Estimate | None) -> Tile:
    if estimate is None or estimate.value is None:
        return name, "–", "not measured"
    return name, words.percent(estimate.value), words.percent_interval(estimate)


def _same_object(estimate: Estimate | None) -> Tile:
    name, number, remark = _share("Same object, words swapped", estimate)
    if estimate is not None and estimate.value is not None:
        remark += ": took the same object under both swapped instructions, so ignored those words"
    return name, number, remark


def _seen(pair: PairFinding) -> Estimate | None:
    return pair.in_distribution.success if pair.in_distribution is not None else None
