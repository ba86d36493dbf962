"""Runs with invented outcomes, summarised by the real suite: what the report is tested on.

Makes the checker of pages importable, too.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.rollout import EpisodeRow, Verdict
from heedful.spec.run import RunSpec
from heedful.suites.factors import make

sys.path.insert(0, str(Path(__file__).parent))

STRENGTHS = {"color": 2.0, "object": 1.15, "spatial": 1.1, "verb": 0.4, "size": -0.9}


@dataclass(frozen=True)
class Run:
    spec: RunSpec
    rows: tuple[EpisodeRow, ...]
    metrics: dict[str, Any]


def run(
    pairs: str | Sequence[str] = "color,object",
    *,
    entries: Sequence[PolicyEntry] = (PolicyEntry("reference:policies/co", "reference", 0),),
    rollouts: int = 120,
    in_distribution: int = 48,
    empty: int = 24,
    strengths: Mapping[str, float] = STRENGTHS,
    neither: float = 0.06,
    able: float = 0.97,
    crashed: float = 0.004,
    nothing: Sequence[str] = (),
) -> Run:
    """Return a run whose policies follow factors with ``strengths``.

    Args:
        nothing: Pairs in which nothing is ever overfit.
    """
    suite = make()
    options = suite.options(
        {"pairs": pairs, "rollouts": rollouts, "in_distribution": in_distribution, "empty": empty}
    )
    spec = RunSpec("factors", options, tuple(entries))
    rng = np.random.default_rng(0)
    habits: dict[str, float] = {}
    rows, verdicts = [], {}
    for entry in entries:
        planted = _planted(entry.ref)
        for case in suite.cases(options):
            if not entry.meets(case):
                continue
            row, verdict = _episode(
                case, entry, rng, planted or strengths, habits, neither, able, crashed, nothing, bool(planted)
            )
            rows.append(row)
            verdicts[row.id] = verdict
    return Run(spec, tuple(rows), suite.summarise(rows, verdicts, options))


def _planted(ref: str) -> dict[str, float]:
    if not ref.startswith("planted:"):
        return {}
    order = ref.removeprefix("planted:").partition("@")[0].split(">")
    return {factor: 40.0 * (len(order) - i) for i, factor in enumerate(order)}


def _episode(
    case: Case,
    entry: PolicyEntry,
    rng: np.random.Generator,
    strengths: Mapping[str, float],
    habits: dict[str, float],
    neither: float,
    able: float,
    crashed: float,
    nothing: Sequence[str],
    planted: bool,
) -> tuple[EpisodeRow, Verdict]:
    episode = Episode(case, entry)
    fails = not planted and rng.random() < crashed
    row = EpisodeRow(
        episode.id, case, entry, "crashed" if fails else "finished", case.instruction.text, 0, steps=84,
        looks=5, wall_s=float(rng.uniform(0.1, 0.3)), policy_s=0.02,
        error="RuntimeError: the gripper did not open" if fails else "",
    )  # fmt: skip
    scoring = case.scoring
    names = [o.name for o in case.scene.objects]
    label: str
    if case.arm == "in_distribution":
        label = "success" if planted or rng.random() < able else "neither"
        taken = scoring["target"] if label == "success" else None
    else:
        first, second = scoring["pair"].split(",")
        slope = strengths[first] - strengths[second]
        if not planted:
            slope += habits.setdefault(f"{entry.ref} {scoring['value_pair']}", float(rng.normal(0, 1.0)))
        if case.arm == "empty_instruction":
            slope = 0.0
        p1 = 1 / (1 + math.exp(-slope)) if abs(slope) < 30 else float(slope > 0)
        verb = scoring["kind"] == "verb_object"
        chance = rng.random()
        if not planted and chance < neither:
            label = "neither"
        elif scoring["pair"] in nothing:
            label = "success" if verb else "neither"
        elif verb and not planted and chance < neither + 0.3:
            label = "success"
        else:
            label = "overfit_1" if rng.random() < p1 else "overfit_2"
        one, two = (
            (scoring["bound"], scoring["target"]) if verb else (scoring["follows_1"], scoring["follows_2"])
        )
        taken = {"overfit_1": one, "overfit_2": two, "success": two}.get(label)
        names = [one, two]
    y = float(rng.choice([-0.1, 0.1]))
    evidence: dict[str, str | float | None] = {"object": taken}
    for role, name, at in zip(("first", "second"), names, (y, -y), strict=False):
        evidence |= {role: name, f"y_{role}_m": at}
    return row, Verdict(row.id, "factors", label, evidence=evidence)


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Run]:
    """Return ``run``."""
    return run


@pytest.fixture(scope="session")
def single() -> Run:
    """Return one policy on one pair that follows the object."""
    return run(strengths={"color": 0.0, "object": 1.2})


@pytest.fixture(scope="session")
def complete() -> Run:
    """Return one policy on all ten pairs, and one training seed each."""
    return run("all", rollouts=60, in_distribution=24, empty=8)
