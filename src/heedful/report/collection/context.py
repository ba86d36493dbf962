"""Turns the findings of a comparison into what its template prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from heedful.report.collection.answer import evidence, headline, unsettled
from heedful.report.collection.budget_plot import budget_plot
from heedful.report.collection.cell_map import cell_map
from heedful.report.collection.findings import (
    ArmFinding,
    ComparisonFindings,
    DifferenceFinding,
    read_comparison_findings,
)
from heedful.report.collection.forest import forest
from heedful.report.collection.words import GROUND_TITLES, PART_TITLES, strategy


@dataclass(frozen=True)
class ArmView:
    """An arm with its grid."""

    finding: ArmFinding
    title: str
    cells: str
    added: str
    demonstrations: str
    grid: Markup | None


@dataclass(frozen=True)
class GroundView:
    """The differences on one ground with their figures."""

    title: str
    key: str
    differences: tuple[DifferenceFinding, ...]
    wide: Markup
    narrow: Markup


def comparison_context(data: Mapping[str, Any], *, name: str, made_at: str = "") -> dict[str, Any]:
    """Return the names that ``compare.html.j2`` uses.

    Args:
        data: Content of ``comparison.json``.
        name: What the comparison is called.
        made_at: When the page was made, as it should be printed.

    Raises:
        UserError: ``data`` does not hold what it should.
    """
    findings = read_comparison_findings(data)
    return {
        "name": name,
        "made_at": made_at,
        "findings": findings,
        "headline": headline(findings),
        "evidence": [evidence(findings, budget) for budget in findings.budgets],
        "unsettled": unsettled(findings),
        "warnings": _warnings(findings),
        "plot": budget_plot(findings, "budget"),
        "plot_narrow": budget_plot(findings, "budget-narrow", narrow=True),
        "arms": [_arm_view(findings, arm, f"grid-{i}") for i, arm in enumerate(findings.arms)],
        "grounds": _grounds(findings),
        "parts": PART_TITLES,
        "strategy": strategy,
        "settings": _settings(findings),
        "costs": costs(findings.bill, findings.costs),
    }


def span(values: Sequence[int]) -> str:
    """Return whole numbers as one or as a range.

    >>> span([3, 3]), span([12, 11])
    ('3', '11 to 12')
    """
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low} to {high}"


def costs(bill: Mapping[str, float], spent: Mapping[str, float]) -> list[tuple[str, str, str]]:
    """Return what, how it was estimated, and what it came to."""
    minutes = spent.get("rollouts_wall_s")
    return [
        (
            "demonstrations",
            f"{bill['demonstrations']:.0f} different for {bill['asked_demonstrations']:.0f} planned, "
            f"about {bill['collect_min']:.0f} min",
            f"{spent['datasets_mb']:.0f} MB of datasets; {spent['failed_demonstrations']:.0f} failed",
        ),
        (
            "trainings",
            f"{bill['trainings']:.0f} of {bill['steps']:.0f} steps, about {bill['train_min']:.0f} min",
            f"{spent['training_cpu_s'] / 60:.0f} CPU min",
        ),
        (
            "rollouts",
            f"{bill['episodes']:.0f}, about {bill['run_min']:.0f} min",
            ""
            if minutes is None
            else f"{spent['episodes']:.0f} finished, {spent['crashed']:.0f} crashed, "
            f"{minutes / 60:.0f} worker min",
        ),
        ("disk", f"about {bill['disk_mb']:.0f} MB", ""),
    ]


def unequal(arms: Sequence[ArmFinding]) -> list[str]:
    """Return a sentence for every budget at which f or n is not the same for all plans."""
    found = []
    for budget in sorted({(arm.changes, arm.demos) for arm in arms}):
        plans = [p for arm in arms if (arm.changes, arm.demos) == budget for p in arm.plans]
        for what, values in (("f", {p.f for p in plans}), ("n", {p.collected_n for p in plans})):
            if len(values) > 1:
                found.append(
                    f"At f = {budget[0]}, n = {budget[1]} the plans do not cost the same: {what} is "
                    f"{span(sorted(values))}."
                )
    return found


def lost(outcomes: Sequence[Mapping[str, Mapping[str, int]]]) -> list[str]:
    """Return a sentence for rollouts that are in no rate."""
    found = []
    for label, words in (("crashed", "crashed"), ("abstained", "could not be judged")):
        count = sum(counts.get(label, 0) for one in outcomes for counts in one.values())
        if count:
            found.append(f"{count} rollouts {words}; they are in no rate.")
    return found


def _warnings(findings: ComparisonFindings) -> list[str]:
    found = [one.sentence for one in findings.left_out]
    found += unequal(findings.arms)
    if findings.arms and findings.arms[0].seeds < 2:
        found.append(
            "One training seed: no interval holds the spread between trainings, so no difference is real."
        )
    found += list(findings.order_remarks)
    return found + lost([arm.outcomes for arm in findings.arms])


def _arm_view(findings: ComparisonFindings, arm: ArmFinding, key: str) -> ArmView:
    title = f"{strategy(arm.strategy)}, f = {arm.changes}, n = {arm.demos}"
    added = [plan.cells_added for plan in arm.plans]
    return ArmView(
        finding=arm,
        title=title,
        cells=span([plan.cells for plan in arm.plans]),
        added=span(added) if any(added) else "–",
        demonstrations=span([count for plan in arm.plans for count in plan.demonstrations_a_cell]),
        grid=cell_map(findings.grid, arm.grid, arm.seeds, key, title=f"Success cell by cell, {title}"),
    )


def _grounds(findings: ComparisonFindings) -> list[GroundView]:
    found = []
    several = len(findings.budgets) > 1

    def label(one: DifferenceFinding) -> str:
        pair = f"{strategy(one.a)} − {strategy(one.b)}"
        budget = f"f = {one.changes}" if findings.varies == "f" else f"n = {one.demos}"
        return f"{pair}, {budget}" if several else pair

    for ground, title in GROUND_TITLES.items():
        own = tuple(one for budget in findings.budgets for one in findings.between(budget, ground))
        if own:
            key = f"difference-{ground.replace('_', '-')}"
            wide = forest(own, key, title=title, label=label)
            narrow = forest(own, f"{key}-narrow", title=title, label=label, narrow=True)
            found.append(GroundView(title, key, own, wide, narrow))
    return found


def _settings(findings: ComparisonFindings) -> list[tuple[str, str]]:
    """Return what was asked, in words."""
    asked = findings.request
    rows = [
        ("factors", " x ".join(f"{axis.factor} ({len(axis.values)})" for axis in findings.grid)),
        ("order of the factors", f"{' > '.join(findings.order)} ({findings.order_source})"),
        ("strategies", ", ".join(map(str, asked["strategies"]))),
        ("training seeds", ", ".join(map(str, range(int(asked["seeds"]))))),
        ("rollouts a policy", f"{asked['rollouts']} over the grid, {asked['empty']} without words"),
        ("policy", f"{asked['recipe']}, text encoder {asked['encoder']}"),
        ("optimizer steps", f"{findings.bill['steps']:.0f}"),
        ("images", f"two cameras, {asked['image_size_px']} px"),
        ("base seed", str(asked["base_seed"])),
    ]
    return [(key, value) for key, value in rows if value]
