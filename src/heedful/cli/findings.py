"""What a judged run found, as a table and in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heedful.cli.output import hierarchy_text, print_json, print_table


def print_findings(metrics: Mapping[str, Any]) -> None:
    """Print FDRs with their intervals, hierarchies, what to take away, and every warning.

    Args:
        metrics: Content of ``metrics.json``; of a suite without factor pairs only what to
            take away and the warnings, and where it has no such words, everything as JSON.
    """
    if "factors" not in metrics:
        if "takeaway" not in metrics:
            print_json(metrics)
            return
        policies = metrics.get("policies", [])
        for warning in [*metrics.get("warnings", []), *(w for p in policies for w in p.get("warnings", []))]:
            print(f"Warning: {warning}")
        for policy in policies:
            print(policy["takeaway"])
        return
    from heedful.report.findings import read_findings
    from heedful.report.words import fdr, fdr_interval, percent

    findings = read_findings(metrics)
    print_table(
        "Factor Dominance Rate (positive: the first factor of the pair wins)",
        ("policy", "pair", "FDR", "95 % interval", "neither", "success in distribution", "rollouts"),
        [
            (
                policy.name,
                pair.pair,
                fdr(pair.fdr.value),
                fdr_interval(pair.fdr),
                percent(pair.neither.value if pair.neither else None),
                percent(seen.success.value if (seen := pair.in_distribution) and seen.success else None),
                pair.counts.judged,
            )
            for policy in findings.policies
            for pair in policy.pairs
        ],
    )
    warnings = list(findings.warnings)
    for policy in findings.policies:
        if policy.hierarchy:
            print(f"{policy.name}: {hierarchy_text(policy.hierarchy.levels)}")
        warnings += policy.warnings
        warnings += [f"{policy.name}, {pair.pair}: {w}" for pair in policy.pairs for w in pair.warnings]
    for warning in warnings:
        print(f"Warning: {warning}")
    print(metrics["takeaway"])
