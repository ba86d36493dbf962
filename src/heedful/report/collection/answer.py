"""The answer of a comparison in words: which strategy did best, by how much, and whether that is real."""

from __future__ import annotations

from heedful.report.collection.findings import ArmFinding, ComparisonFindings, DifferenceFinding
from heedful.report.collection.words import strategy
from heedful.report.words import listed, percent, percent_interval

Budget = tuple[int, int]
_IS = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
GROUND = "own_held_out"
"""What the answer is about: each strategy on the cells that its own plan left out."""


def headline(findings: ComparisonFindings) -> str:
    """Return the answer in one sentence."""
    clear: dict[str, list[Budget]] = {}
    for budget in findings.budgets:
        best = best_arm(findings, budget)
        others = len(findings.at(budget)) - 1
        if best is not None and others and len(beaten(findings, best)) == others:
            clear.setdefault(best.strategy, []).append(budget)
    compared = [budget for budget in findings.budgets if len(findings.at(budget)) > 1]
    if not compared:
        return "Nothing is compared: at each budget there is one strategy only."
    if clear:
        won = [f"**{strategy(name)}** does best{_where(findings, at)}" for name, at in clear.items()]
        settled = sum(len(at) for at in clear.values())
        rest = "" if settled == len(compared) else "; elsewhere no strategy is ahead of all others"
        return f"On cells it was not shown, {listed(won)}{rest}."
    wins = _wins(findings)
    if wins:
        return f"No strategy is ahead of all others on cells it was not shown; {'; '.join(wins)}."
    return "On cells they were not shown, no strategy is shown to be better than another."


def evidence(findings: ComparisonFindings, budget: Budget) -> str:
    """Return the numbers of one budget in a few sentences."""
    best = best_arm(findings, budget)
    at = f"f{_IS}{budget[0]}, n{_IS}{budget[1]}"
    if best is None:
        return f"{at}: nothing was held out."
    others = sorted(
        (arm for arm in findings.at(budget) if arm is not best), key=lambda arm: -(_held_out(arm) or 0.0)
    )
    said = [_against(findings, best, arm) for arm in others]
    rate = best.success["held_out"].pooled.rate
    first = f"{at}: **{strategy(best.strategy)}** {percent(rate.value)} {percent_interval(rate)}"
    grid = [
        f"{strategy(arm.strategy)} {percent(arm.success['all'].pooled.rate.value)}"
        for arm in findings.at(budget)
    ]
    rest = f"; {'; '.join(said)}" if said else ""
    return f"{first} on cells it was not shown{rest}. On the whole grid: {listed(grid)}."


def unsettled(findings: ComparisonFindings) -> str | None:
    """Return what would separate the largest difference where nothing is real; ``None`` otherwise."""
    own = [one for budget in findings.budgets for one in findings.between(budget, GROUND)]
    halves = [half for one in own if (half := _half_width(one)) is not None]
    if not halves or any(one.real for one in own):
        return None
    widest = max(own, key=lambda one: abs(one.value.value or 0.0))
    low, high = (f"{100 * half:.1f}" for half in (min(halves), max(halves)))
    width = f"±{low}" if low == high else f"±{low} to ±{high}"
    return f"The intervals of the differences reach {width} points. The largest difference: {widest.verdict}"


def _half_width(one: DifferenceFinding) -> float | None:
    """Return half the width of the interval that counts, the naive one where nothing varies."""
    if one.half_width is not None:
        return one.half_width
    low, high = one.value.low, one.value.high
    return None if low is None or high is None else (high - low) / 2


def best_arm(findings: ComparisonFindings, budget: Budget) -> ArmFinding | None:
    """Return the arm with the highest success on held-out cells; ``None`` where nothing is held out."""
    arms = [arm for arm in findings.at(budget) if _held_out(arm) is not None]
    return max(arms, key=lambda arm: _held_out(arm) or 0.0, default=None)


def beaten(findings: ComparisonFindings, arm: ArmFinding) -> list[str]:
    """Return the strategies that ``arm`` is really better than on held-out cells."""
    return [
        one.b if one.a == arm.strategy else one.a
        for one in findings.between((arm.changes, arm.demos), GROUND)
        if one.real and arm.strategy == (one.a if (one.value.value or 0) > 0 else one.b)
    ]


def _held_out(arm: ArmFinding) -> float | None:
    return arm.success["held_out"].pooled.rate.value


def _against(findings: ComparisonFindings, best: ArmFinding, arm: ArmFinding) -> str:
    value = _held_out(arm)
    name = strategy(arm.strategy)
    if value is None:
        return f"{name} left nothing out"
    found = _between(findings, best, arm)
    word = "real" if found is not None and found.real else "not settled"
    gap = 100 * ((_held_out(best) or 0.0) - value)
    return f"{name} {percent(value)}, {gap:.1f} points less ({word})"


def _between(findings: ComparisonFindings, one: ArmFinding, other: ArmFinding) -> DifferenceFinding | None:
    names = {one.strategy, other.strategy}
    budget = (one.changes, one.demos)
    return next((d for d in findings.between(budget, GROUND) if {d.a, d.b} == names), None)


def _wins(findings: ComparisonFindings) -> list[str]:
    """Return every real difference in words, budgets of one pair together."""
    at: dict[tuple[str, str], list[Budget]] = {}
    for budget in findings.budgets:
        for one in findings.between(budget, GROUND):
            if one.real:
                pair = (one.a, one.b) if (one.value.value or 0) > 0 else (one.b, one.a)
                at.setdefault(pair, []).append(budget)
    return [
        f"**{strategy(better)}** beats {strategy(worse)}{_where(findings, budgets)}"
        for (better, worse), budgets in at.items()
    ]


def _where(findings: ComparisonFindings, budgets: list[Budget]) -> str:
    """Return at which budgets; nothing where there is one only."""
    if len(findings.budgets) == 1:
        return ""
    if len(budgets) == len(findings.budgets):
        return f" at every {findings.varies}"
    values = [str(f if findings.varies == "f" else n) for f, n in budgets]
    return f" at {findings.varies}{_IS}{listed(values)}"
