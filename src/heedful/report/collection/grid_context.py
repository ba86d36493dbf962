"""Turns the measures of a run of suite grid into what its template prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from heedful.report.collection.cell_map import cell_map
from heedful.report.collection.findings import Axis, CellCounts
from heedful.report.words import percent, percent_interval, tidied
from heedful.spec.codec import from_json
from heedful.spec.errors import UserError
from heedful.spec.rollout import Estimate


@dataclass(frozen=True)
class GridPolicyView:
    """A policy of the run."""

    name: str
    key: str
    takeaway: str
    success: Estimate
    naive: Estimate
    by_seed: tuple[tuple[str, Estimate], ...]
    failures: tuple[tuple[str, Estimate], ...]
    empty: Estimate
    side: Estimate
    warnings: tuple[str, ...]
    grid: Markup | None


def grid_context(
    metrics: Mapping[str, Any], *, name: str, made_at: str = "", commands: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the names that ``grid.html.j2`` uses.

    Args:
        metrics: Content of ``metrics.json``.
        name: What the run is called.
        made_at: When the page was made, as it should be printed.
        commands: What to type to make the run again.

    Raises:
        UserError: The metrics are not those of suite grid.
    """
    try:
        axes = tuple(Axis(f["name"], tuple(f["values"])) for f in metrics["grid"]["factors"])
        policies = [_view(axes, policy, f"p{i}") for i, policy in enumerate(metrics["policies"])]
        warnings = list(metrics["warnings"])
    except (KeyError, TypeError) as error:
        raise UserError(
            f"metrics.json is not that of a run of suite grid ({error}); judge it again."
        ) from error
    return {
        "name": name,
        "made_at": made_at,
        "axes": axes,
        "policies": policies,
        "headline": _headline(policies),
        "warnings": warnings + [f"{p.name}: {w}" for p in policies for w in p.warnings],
        "commands": commands,
    }


def _view(axes: Sequence[Axis], policy: Mapping[str, Any], key: str) -> GridPolicyView:
    cells = [
        CellCounts(tuple(cell["values"]), 0, 0, 0, 0, cell["successes"], cell["trials"])
        for cell in policy["cells"]
    ]
    title = f"Success of {policy['name']}, cell by cell"
    return GridPolicyView(
        name=policy["name"],
        key=key,
        takeaway=tidied(policy["takeaway"]),
        success=from_json(Estimate, policy["success"]),
        naive=from_json(Estimate, policy["success_naive"]),
        by_seed=tuple(
            (str(one["training_seed"]), from_json(Estimate, one["success"]))
            for one in policy["by_training_seed"]
        ),
        failures=tuple(
            (label.replace("_", " "), from_json(Estimate, share))
            for label, share in policy["failures"].items()
        ),
        empty=from_json(Estimate, policy["empty_instruction"]["success"]),
        side=from_json(Estimate, policy["side_preference"]),
        warnings=tuple(map(tidied, policy["warnings"])),
        grid=cell_map(axes, cells, 1, f"{key}-grid", title=title),
    )


def _headline(policies: Sequence[GridPolicyView]) -> str:
    judged = [p for p in policies if p.success.value is not None]
    if not judged:
        return "Nothing has been judged yet."
    if len(judged) == 1:
        one = judged[0]
        return f"{one.name} does as told in {percent(one.success.value)} {percent_interval(one.success)}."
    return f"{len(judged)} policies, asked for every cell of the grid: how often does each do as told?"
