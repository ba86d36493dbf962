"""Turns what was measured into what ``paraphrase.html.j2`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from heedful.metrics.cells import GroupResult
from heedful.metrics.paraphrase_summary import PolicyResult
from heedful.report.paraphrase import notices, words
from heedful.report.paraphrase.figures import rates, scatter
from heedful.report.paraphrase.figures.heat_map import heat_map
from heedful.report.paraphrase.figures.rates import rate_bars
from heedful.report.paraphrase.figures.scatter import distance_scatter
from heedful.report.paraphrase.figures.sweep import alpha_sweep
from heedful.report.paraphrase.material import ParaphraseMaterial
from heedful.report.paraphrase.names import ACTION_NAMES, GLOSSARY, GROUP_NAMES, OBJECT_NAMES, cell_title
from heedful.report.words import percent, percent_interval, points, points_interval

_MOST_OPEN = 3
"""More policies than this are folded."""

Tile = tuple[str, str, str]
"""What it is, the number, a remark."""


@dataclass(frozen=True)
class PolicyView:
    """A policy with its sentences and figures; ``None`` where a figure would show nothing."""

    result: PolicyResult
    key: str
    answer: str
    evidence: str
    tiles: tuple[Tile, ...]
    map: Markup | None
    map_narrow: Markup | None
    bars: Markup | None
    bars_narrow: Markup | None
    tasks: Markup
    tasks_narrow: Markup
    scatter: Markup | None
    sweep: Markup | None
    groups: tuple[tuple[str, tuple[tuple[str, GroupResult], ...]], ...]


def page_context(material: ParaphraseMaterial) -> dict[str, Any]:
    """Return the names that the template uses."""
    policies = material.summary.policies
    return {
        "name": material.name,
        "made_at": material.made_at,
        "folded": len(policies) > _MOST_OPEN,
        "policies": [_view(policy, f"p{i}") for i, policy in enumerate(policies)],
        "warnings": notices.warnings(material),
        "missing": notices.missing(material),
        "no_cells": f"Nothing to draw: {notices.NO_CELLS}.",
        "coverage": [text for policy in policies if (text := notices.coverage(policy))],
        "joined": notices.joined(material.counts) if material.counts is not None else [],
        "settings": material.settings,
        "commands": material.commands,
        "glossary": GLOSSARY,
        "group_names": GROUP_NAMES,
        "cell_title": cell_title,
        "cell_named": lambda name: cell_title(*name.split("/")) if name else "–",
        "scatter_legend": scatter.legend(),
        "bars_legend": rates.legend(),
        "points": points,
        "points_interval": points_interval,
        "score": words.score,
        "score_interval": words.score_interval,
        "signed": words.signed,
        "p_value": words.p_value,
        "overall_drop": words.overall_drop,
    }


def _view(policy: PolicyResult, key: str) -> PolicyView:
    groups = _groups(policy)
    tasks = [("By original instruction", [(t.name, t) for t in policy.tasks])]
    if policy.by_seed:
        tasks.append(("By seed", [(f"seed {s.name}" if s.name else "no seed", s) for s in policy.by_seed]))
    title = f"Success of {policy.name} by kind of paraphrase"
    by_task = f"Success of {policy.name} by original instruction"
    known, celled = policy.correlation is not None, notices.celled(policy)
    return PolicyView(
        result=policy,
        key=key,
        answer=words.answer(policy),
        evidence=words.evidence(policy),
        tiles=_tiles(policy),
        map=_map(policy, f"{key}-map", narrow=False) if celled else None,
        map_narrow=_map(policy, f"{key}-map-narrow", narrow=True) if celled else None,
        bars=rate_bars(groups, f"{key}-bars", title) if celled else None,
        bars_narrow=rate_bars(groups, f"{key}-bars-narrow", title, narrow=True) if celled else None,
        tasks=rate_bars(tasks, f"{key}-tasks", by_task),
        tasks_narrow=rate_bars(tasks, f"{key}-tasks-narrow", by_task, narrow=True),
        scatter=distance_scatter(policy.cells, f"{key}-scatter", policy.name) if known else None,
        sweep=alpha_sweep(policy.sweep, policy.success.value, policy.alpha, f"{key}-sweep", policy.name)
        if policy.sweep
        else None,
        groups=tuple((heading, tuple(bars)) for heading, bars in groups),
    )


def _map(policy: PolicyResult, key: str, narrow: bool) -> Markup:
    m = policy.marginals
    return heat_map(
        policy.cells, m.object_types, m.action_types, policy.original, key, policy.name, narrow=narrow
    )


def _groups(policy: PolicyResult) -> list[tuple[str, Sequence[tuple[str, GroupResult]]]]:
    m = policy.marginals
    named = [
        ("What is worded anew", GROUP_NAMES, m.categories),
        ("Axis of the action's wording", GROUP_NAMES, m.axes),
        ("The object's wording", OBJECT_NAMES, m.object_types),
        ("The action's wording", ACTION_NAMES, m.action_types),
    ]
    return [(heading, [(names[r.name], r) for r in results]) for heading, names, results in named if results]


def _tiles(policy: PolicyResult) -> tuple[Tile, ...]:
    found: list[Tile] = [
        (
            "Success in other words",
            percent(policy.success.value),
            f"95 % {percent_interval(policy.success)}",
        )
    ]
    drop = words.overall_drop(policy)
    if drop is not None and drop.drop.value is not None:
        found.append(
            (
                "Drop against the original words",
                f"{points(drop.drop.value)} points",
                f"{points_interval(drop.drop)}, on matched seeds",
            )
        )
    if policy.pride is not None:
        found.append(
            (
                f"PRIDE, α = {policy.alpha:g}",
                words.score(policy.pride.value),
                f"95 % {words.score_interval(policy.pride)}",
            )
        )
    if policy.correlation is not None:
        r = policy.correlation.r
        ends = f" [{words.signed(r.low)}, {words.signed(r.high)}]" if r.low is not None else ""
        found.append(
            (
                "Distance against success, r",
                words.signed(r.value),
                f"over {r.n} cells{ends}",
            )
        )
    if policy.empty is not None:
        found.append(
            ("Success without words", percent(policy.empty.value), f"95 % {percent_interval(policy.empty)}")
        )
    found.append(
        (
            "Rollouts",
            f"{policy.rollouts:,}",
            f"{policy.paraphrases:,} paraphrases of {policy.originals} instructions"
            + (f", {sum(map(bool, policy.seeds))} seeds" if len(policy.seeds) > 1 else ""),
        )
    )
    return tuple(found)
