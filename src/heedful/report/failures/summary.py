"""Near and far failures as plain data: for scripts, unrounded."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from typing import Any

from heedful.metrics.path_failures import Failure, Group, PolicyFailures, Share, Task
from heedful.metrics.paths import THRESHOLDS, percentiles
from heedful.report.failures.material import Material

COLUMNS = ("policy", "task", "episode", "arm", "cell", "category", "instruction", "distance_m", "limit_m")
"""Of the table of failures; then one column a threshold, ``near`` or ``far``."""


def summary(material: Material) -> dict[str, Any]:
    """Return everything that was found, as JSON data; distances in metres."""
    return {
        "sources": list(material.sources),
        "method": asdict(material.method),
        "thresholds": list(THRESHOLDS),
        "policies": [_policy(p) for p in material.policies],
    }


def table(material: Material) -> str:
    """Return one row a failure as CSV; those without a corridor have no distance."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*COLUMNS, *THRESHOLDS))
    for policy in material.policies:
        for task in policy.tasks:
            for failure in task.failures:
                path = failure.path
                where = (policy.name, task.name, path.episode, path.arm, path.cell, path.category)
                limit = task.corridor.thresholds_m["max"] if task.corridor else ""
                sides = ("near" if failure.near[name] else "far" for name in THRESHOLDS)
                writer.writerow((*where, path.instruction, failure.distance_m, limit, *sides))
    return out.getvalue()


def _policy(policy: PolicyFailures) -> dict[str, Any]:
    return {
        "policy": policy.name,
        "arms_counted": list(policy.arms_counted),
        "left_out": dict(policy.left_out),
        **_group(policy.total),
        "arms": {g.name: _group(g) for g in policy.arms},
        "categories": {g.name: _group(g) for g in policy.categories},
        "cells": {g.name: _group(g) for g in policy.cells},
        "tasks": {t.name: _task(t) for t in policy.tasks},
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "successes": group.successes,
        "failures": group.failures,
        "without_corridor": group.unclassified,
        "far": {name: _share(share) for name, share in group.shares.items()},
    }


def _share(share: Share) -> dict[str, Any]:
    return {"near": share.near, "far": share.far, "share": asdict(share.rate), "naive": asdict(share.naive)}


def _task(task: Task) -> dict[str, Any]:
    data: dict[str, Any] = {"successes": len(task.successes), "thresholds_m": None}
    if task.corridor is None:
        return {**data, "without_corridor": task.unclassified, "failures": []}
    return {
        **data,
        "thresholds_m": dict(task.corridor.thresholds_m),
        "published_m": percentiles(task.corridor.distances_m),
        "leave_one_out_m": percentiles(task.corridor.left_out_m),
        "without_corridor": task.unclassified,
        "failures": [_failure(f) for f in task.failures],
    }


def _failure(failure: Failure) -> dict[str, Any]:
    path = failure.path
    return {
        "episode": path.episode,
        "arm": path.arm,
        "cell": path.cell,
        "distance_m": failure.distance_m,
        "near": dict(failure.near),
    }
