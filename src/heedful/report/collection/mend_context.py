"""Turns the findings of a closed loop into what its template prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from heedful.report.collection.cell_map import cell_map, plan_map
from heedful.report.collection.context import costs, lost, span
from heedful.report.collection.findings import (
    DifferenceFinding,
    MendFindings,
    StageFinding,
    read_mend_findings,
)
from heedful.report.collection.forest import forest
from heedful.report.collection.mend_answer import evidence, headline
from heedful.report.collection.stage_bars import fdr_stages, success_stages
from heedful.report.collection.words import GROUND_TITLES, PART_TITLES, strategy

TITLES = {"before": "Before", "control": "More of the same", "after": "After the plan"}


@dataclass(frozen=True)
class StageView:
    """A stage with its grid."""

    finding: StageFinding
    title: str
    grid: Markup | None


def mend_context(data: Mapping[str, Any], *, name: str, made_at: str = "") -> dict[str, Any]:
    """Return the names that ``mend.html.j2`` uses.

    Args:
        data: Content of ``mend.json``.
        name: What the loop is called.
        made_at: When the page was made, as it should be printed.

    Raises:
        UserError: ``data`` does not hold what it should.
    """
    findings = read_mend_findings(data)
    named = [(TITLES[stage.key], stage.key, stage) for stage in findings.stages]
    first, second = (axis.factor for axis in findings.grid)
    return {
        "name": name,
        "made_at": made_at,
        "findings": findings,
        "factors": (first, second),
        "headline": headline(findings),
        "evidence": evidence(findings),
        "warnings": _warnings(findings),
        "fdr_figure": fdr_stages([(t, k, s.fdr) for t, k, s in named], first, second, "fdr"),
        "success_figure": success_stages(named, "success"),
        "stages": [_stage(findings, stage) for stage in findings.stages],
        "plan": findings.plan,
        "plan_grid": plan_map(findings.grid, findings.plan.grid, "plan", title="Demonstrations of the plan"),
        "plan_demonstrations": span(findings.plan.demonstrations_a_cell),
        "differences": _grounds(findings),
        "parts": PART_TITLES,
        "strategy": strategy,
        "settings": _settings(findings),
        "costs": costs(findings.bill, {**findings.costs}),
    }


def _stage(findings: MendFindings, stage: StageFinding) -> StageView:
    seeds = int(findings.request["seeds"])
    title = TITLES[stage.key]
    grid = cell_map(
        findings.grid, stage.grid, seeds, f"grid-{stage.key}", title=f"Success cell by cell: {title}"
    )
    return StageView(stage, title, grid)


def _grounds(findings: MendFindings) -> list[tuple[str, str, list[DifferenceFinding], Markup, Markup]]:
    def label(one: DifferenceFinding) -> str:
        return f"{TITLES[one.a].lower()} − {TITLES[one.b].lower()}"

    found = []
    for ground in ("both_held_out", "all"):
        own = [one for one in findings.differences if one.ground == ground]
        if own:
            key, title = f"difference-{ground.replace('_', '-')}", GROUND_TITLES[ground]
            wide = forest(own, key, title=title, label=label)
            narrow = forest(own, f"{key}-narrow", title=title, label=label, narrow=True)
            found.append((title, key, own, wide, narrow))
    return found


def _warnings(findings: MendFindings) -> list[str]:
    found = list(findings.plan.remarks)
    if int(findings.request["seeds"]) < 2:
        found.append(
            "One training seed: no interval holds the spread between trainings, so no difference is real."
        )
    control, after = findings.stage("control"), findings.stage("after")
    if control.demonstrations != after.demonstrations:
        found.append(
            f"The control was shown {control.demonstrations} demonstrations and the mended policy "
            f"{after.demonstrations}: some could not be demonstrated."
        )
    return found + lost([stage.outcomes for stage in findings.stages])


def _settings(findings: MendFindings) -> list[tuple[str, str]]:
    """Return what was asked, in words."""
    asked = findings.request
    return [
        ("factors", " and ".join(axis.factor for axis in findings.grid)),
        ("demonstrations before", str(asked["base_demos"])),
        ("added", f"{asked['demos']}, planned or more of the same"),
        ("training seeds", ", ".join(map(str, range(int(asked["seeds"]))))),
        (
            "rollouts a policy",
            f"{asked['rollouts']} conflicts, {asked['rollouts']} over the grid, "
            f"{asked['in_distribution']} as trained, {asked['empty']} without words in each",
        ),
        ("policy", f"{asked['recipe']}, text encoder {asked['encoder']}"),
        ("optimizer steps", f"{findings.bill['steps']:.0f}, all policies alike"),
        ("images", f"two cameras, {asked['image_size_px']} px"),
        ("base seed", str(asked["base_seed"])),
    ]
