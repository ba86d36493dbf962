"""What is wrong with a folder that was killed and resumed, compared with one that never was."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from heedful.rollouts.plan import plan
from heedful.spec.codec import to_json
from heedful.spec.errors import UserError
from heedful.spec.rollout import Rollout
from heedful.store.datasets import check_dataset
from heedful.store.run_folder import RunFolder
from heedful.workflows.running import resolve


def run_faults(killed: Path, whole: Path) -> list[str]:
    """Return a line for everything that is wrong with the run folder ``killed``; ``whole`` is the pattern."""
    faults = _leftovers(killed)
    spec, cases = resolve(RunFolder.open(killed).spec)
    planned = sorted(episode.id for episode in plan(spec, cases))
    written = [json.loads(line)["id"] for line in (killed / "episodes.jsonl").read_text().splitlines()]
    if sorted(written) != planned:
        faults.append(
            f"{len(planned)} episodes planned, {len(written)} written, {len(set(written))} different ones"
        )
    if sorted(p.name for p in (killed / "rollouts").iterdir()) != planned:
        faults.append("rollouts/ holds other folders than the planned ones")
    if {p.name for p in killed.iterdir()} != {p.name for p in whole.iterdir()}:
        faults.append(f"it holds {sorted(p.name for p in killed.iterdir())}")
    if (killed / "spec.yaml").read_bytes() != (whole / "spec.yaml").read_bytes():
        faults.append("spec.yaml differs")
    try:
        found, wanted = _results(killed), _results(whole)
    except UserError as error:
        return [*faults, str(error)]
    return faults + [f"episode {key} differs" for key in wanted if found.get(key) != wanted[key]]


def collect_faults(killed: Path, whole: Path) -> list[str]:
    """Return a line for everything that is wrong with the dataset ``killed``; ``whole`` is the pattern."""
    faults = _leftovers(killed)
    try:
        check_dataset(killed)
    except UserError as error:
        faults.append(str(error))
    found, wanted = _files(killed), _files(whole)
    if set(found) != set(wanted):
        faults.append(f"files {sorted(set(found) ^ set(wanted))} are in one of the two only")
    return faults + [f"{name} differs" for name in wanted if found.get(name, wanted[name]) != wanted[name]]


def _leftovers(folder: Path) -> list[str]:
    names = [p for pattern in ("*.tmp", ".tmp-*", ".staging") for p in folder.rglob(pattern)]
    return [f"{path.relative_to(folder)} was left behind" for path in names]


def _results(folder: Path) -> dict[str, tuple[object, ...]]:
    return {rollout.row.id: _content(rollout) for rollout in RunFolder.open(folder).iter_rollouts()}


def _content(rollout: Rollout) -> tuple[object, ...]:
    """Return all of a rollout but its timings."""
    row = replace(rollout.row, wall_s=0.0, policy_s=0.0, attempts=1)
    trajectory = rollout.trajectory
    if trajectory is None:
        return (to_json(row),)
    return (
        to_json(row),
        *(np.asarray(getattr(trajectory, field.name)).tobytes() for field in fields(trajectory)),
    )


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }
