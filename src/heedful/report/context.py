"""Turns the material of a report into what its template prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from markupsafe import Markup

from heedful.report import judge_rules, known_answer, notices, words
from heedful.report.comparison import comparison
from heedful.report.encoders import FACT, encoder_results
from heedful.report.figures.bars import fdr_bars
from heedful.report.figures.cells import cell_grid, label_strip
from heedful.report.figures.curve import loss_curve
from heedful.report.figures.hierarchy import ladder
from heedful.report.figures.matrix import fdr_matrix
from heedful.report.figures.shares import share_rows
from heedful.report.findings import Findings, HierarchyFinding, PairFinding, PolicyFinding, read_findings
from heedful.report.material import Material, Training, Video
from heedful.report.run_facts import settings, times
from heedful.report.tiles import tiles

_MOST_OPEN = 3
"""More policies than this are folded, so that a page of twenty can be read."""


@dataclass(frozen=True)
class PairView:
    """A pair with its figures."""

    finding: PairFinding
    strip: Markup
    grid: Markup | None


@dataclass(frozen=True)
class PolicyView:
    """A policy with its sentences and figures."""

    finding: PolicyFinding
    key: str
    answer: str
    evidence: str
    tiles: tuple[tuple[str, str, str], ...]
    bars: Markup
    bars_narrow: Markup
    ladder: Markup | None
    holds: str
    matrix: Markup
    pairs: tuple[PairView, ...]
    controls: tuple[tuple[str, str, Markup], ...]


@dataclass(frozen=True)
class VideoView:
    """A video as it lies in the report's folder."""

    video: Video
    href: str
    poster: str


def page_context(material: Material, videos: Sequence[VideoView]) -> dict[str, Any]:
    """Return the names that ``page.html.j2`` uses.

    Raises:
        UserError: The metrics are not those of the factors suite.
    """
    findings = read_findings(material.metrics)
    checked = list(findings.policies)
    if material.known_answer is not None:
        checked += read_findings(material.known_answer, "metrics.json of the planted policies").policies
    checks = known_answer.check(checked)
    learned = [p for p in findings.policies if not known_answer.is_planted(p)]
    shown = learned or list(findings.policies)
    factors = findings.factors or _factors(shown)
    folded = len(shown) > _MOST_OPEN
    grids = not folded or bool(learned)  # a planted policy's cells all say the same
    return {
        "name": material.name,
        "made_at": material.made_at,
        "findings": findings,
        "planted_only": not learned and bool(findings.policies),
        "folded": folded,
        "policies": [_policy_view(p, findings, factors, f"p{i}", grids) for i, p in enumerate(shown)],
        "checks": checks,
        "warnings": notices.warnings(findings, material.rows, checks),
        "missing": notices.missing(material, findings, shown, bool(checks)),
        "errors": notices.errors(material.rows),
        "encoders": material.encoders or encoder_results(learned, material.trainings),
        "videos": [(pair, list(group)) for pair, group in groupby(videos, key=lambda view: view.video.pair)],
        "labels": _label_names,
        "trainings": [(t, _curve(t, i)) for i, t in enumerate(material.trainings)],
        "comparison": comparison(learned, findings.tau),
        "thresholds": judge_rules.thresholds(),
        "rules": judge_rules.order_of_rules(),
        "spec": material.spec,
        "encoder_of": {(t.policy, t.pair, t.training_seed): t.facts.get(FACT) for t in material.trainings},
        "settings": settings(material),
        "times": times(material),
        "commands": material.commands,
    }


def _policy_view(
    policy: PolicyFinding, findings: Findings, factors: Sequence[str], key: str, grids: bool
) -> PolicyView:
    answer, evidence = words.policy_answer(policy, findings.tau)
    return PolicyView(
        finding=policy,
        key=key,
        answer=answer,
        evidence=evidence,
        tiles=tiles(policy, findings.tau),
        bars=fdr_bars(policy.pairs, findings.tau, f"{key}-bars", policy=policy.name),
        bars_narrow=fdr_bars(policy.pairs, findings.tau, f"{key}-narrow", policy=policy.name, narrow=True),
        ladder=ladder(policy.hierarchy, f"{key}-ladder", policy=policy.name) if policy.hierarchy else None,
        holds=_holds(policy.hierarchy, findings.tau),
        matrix=fdr_matrix(policy.pairs, factors, f"{key}-matrix", policy=policy.name),
        pairs=tuple(_pair_view(p, policy.name, f"{key}-{i}", grids) for i, p in enumerate(policy.pairs)),
        controls=_controls(policy, key),
    )


def _pair_view(pair: PairFinding, policy: str, key: str, grids: bool) -> PairView:
    drawn = bool(grids and pair.cells and pair.values_1 and pair.values_2)
    return PairView(
        finding=pair,
        strip=label_strip(pair.counts, f"{key}-strip", pair),
        grid=cell_grid(pair, f"{key}-grid", policy=policy) if drawn else None,
    )


def _controls(policy: PolicyFinding, key: str) -> tuple[tuple[str, str, Markup], ...]:
    pairs = policy.pairs
    named = [f"{p.factor_1}, {p.factor_2}" for p in pairs]
    found: list[tuple[str, str, Markup]] = []
    if any(p.side_preference for p in pairs):
        rows = [(n, p.side_preference) for n, p in zip(named, pairs, strict=True)]
        found.append(
            (
                "Side preference",
                "Share of taken objects that stood on the left of the image; 50 %: none. Each "
                "conflict was also run with the two objects' places exchanged (where the place itself is a "
                "factor, with the instructions exchanged), so a preference for a side cancels in FDR.",
                share_rows(rows, f"{key}-side", "Side preference", reference=0.5, ends=("right", "left")),
            )
        )
    if any(p.same_object for p in pairs):
        rows = [(n, p.same_object) for n, p in zip(named, pairs, strict=True)]
        found.append(
            (
                "Same object under swapped instructions",
                "Each scene was met twice, with the two instructions that swap its values. 100 %: the policy "
                "took the same object whatever it was told, so it has no preference among words there.",
                share_rows(rows, f"{key}-same", "Same object under swapped instructions"),
            )
        )
    return tuple(found)


def _holds(hierarchy: HierarchyFinding | None, tau: float) -> str:
    """Return for which tie thresholds the hierarchy is the same, as a sentence."""
    for s in hierarchy.sensitivity if hierarchy else ():
        if s.low <= tau and (tau < s.high or s.high == 1.0):
            return f"The order shown holds for thresholds from {100 * s.low:.1f} to {words.percent(s.high)}."
    return ""


def _curve(training: Training, index: int) -> Markup | None:
    title = f"Training loss of {training.policy}, {training.pair}"
    return loss_curve(training.loss, f"curve-{index}", title) if training.loss else None


def _label_names(label: str, pair: str) -> str:
    """Return a judge's label in the words of its pair."""
    first, _, second = pair.partition(",")
    return {"overfit_1": f"followed {first}", "overfit_2": f"followed {second}"}.get(label, label)


def _factors(policies: Sequence[PolicyFinding]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(f for policy in policies for p in policy.pairs for f in (p.factor_1, p.factor_2))
    )
