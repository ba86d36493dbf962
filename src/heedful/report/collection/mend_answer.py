"""What the closed loop showed, in words."""

from __future__ import annotations

from heedful.report.collection.findings import DifferenceFinding, MendFindings, StageFinding
from heedful.report.collection.words import strategy
from heedful.report.words import fdr, fdr_interval, percent, points, points_interval

NEW = "both_held_out"
"""The answer is about cells that no policy was shown."""


def headline(findings: MendFindings) -> str:
    """Return the answer in one sentence."""
    beside = findings.difference("after", "control", NEW) or findings.difference("after", "control", "all")
    plan = strategy(findings.plan.strategy)
    if beside is None or beside.value.value is None:
        return f"{findings.plan.n} demonstrations were added by {plan}; there is nothing to compare."
    where = "on cells nobody was shown" if beside.ground == NEW else "on the whole grid"
    gain = f"{points(beside.value.value, sign=True)} points {points_interval(beside.value, sign=True)}"
    if beside.real and beside.value.value > 0:
        return f"The **plan** mended it: {where}, {gain} over as many demonstrations of the same."
    if beside.real:
        return f"The plan did **harm**: {where}, {gain} over as many demonstrations of the same."
    return f"The plan is **not shown to beat** more of the same: {where}, {gain}."


def evidence(findings: MendFindings) -> list[str]:
    """Return the numbers behind it, a sentence each."""
    first, second = (axis.factor for axis in findings.grid)
    before, control, after = (findings.stage(key) for key in ("before", "control", "after"))
    preference = ", ".join(
        f"{name} {fdr(stage.fdr.value)} {fdr_interval(stage.fdr)}"
        for name, stage in (("before", before), ("more of the same", control), ("after the plan", after))
    )
    found = [
        f"Cells not in the policy's own demonstrations: before {_held_out(before)}, "
        f"more of the same {_held_out(control)}, **after the plan {_held_out(after)}**.",
        f"FDR of {first} over {second}: {preference}. Positive: it follows {first} when the two conflict.",
    ]
    grid = [
        f"{_versus(one)} {points(one.value.value, sign=True)} {points_interval(one.value, sign=True)} "
        f"({'real' if one.real else 'not settled'})"
        for key in (("after", "before"), ("after", "control"))
        if (one := findings.difference(*key, "all")) is not None
    ]
    if grid:
        found.append(f"On the whole grid, in points: {'; '.join(grid)}.")
    return found


def _held_out(stage: StageFinding) -> str:
    return percent(stage.success["held_out"].pooled.rate.value)


def _versus(one: DifferenceFinding) -> str:
    return {"before": "against before", "control": "against more of the same"}[one.b]
