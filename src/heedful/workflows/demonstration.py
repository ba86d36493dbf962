"""The main job on the embedded default: does the measure work, and what does a policy follow?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.spec.progress import Progress, silent
from heedful.workflows.diagnosis import Diagnosis, Sizes, diagnose

PAIR = "color,object"
SIZES = Sizes(demos=300, rollouts=240, in_distribution=120, empty=30, planted=40, image_size_px=192)
"""Fits into ten minutes on two cores."""


@dataclass(frozen=True)
class DemoResult:
    """What the demo shows.

    Attributes:
        page: The report.
        metrics: Measures of the reference policy.
        known_answer: Measures of the planted policies.
        stages_s: Stage -> wall-clock seconds, in order.
    """

    page: Path
    metrics: dict[str, Any]
    known_answer: dict[str, Any]
    stages_s: dict[str, float]


def demo(
    out: Path, sizes: Sizes = SIZES, base_seed: int = 0, workers: int = 2, progress: Progress = silent
) -> DemoResult:
    """Check the measure on planted policies, then diagnose the reference policy on color and object.

    Two policies are trained side by side, so that the interval of the FDR holds the spread
    between training seeds, too.

    Args:
        out: Run folder.
        sizes: How much of everything.
        base_seed: Root of every random number.
        workers: Worker processes, one thread each.
        progress: Told how far each stage is.
    """
    stages: dict[str, float] = {}
    last = time.perf_counter()

    def timed(stage: str, done: int, total: int, note: str = "") -> None:
        nonlocal last
        now = time.perf_counter()
        stages[stage] = stages.get(stage, 0.0) + now - last
        last = now
        progress(stage, done, total, note)

    diagnosis: Diagnosis = diagnose(
        "factors",
        "reference",
        (PAIR,),
        out,
        sizes,
        training_seeds=(0, 1),
        base_seed=base_seed,
        workers=workers,
        commands=("make demo",),
        progress=timed,
    )
    return DemoResult(diagnosis.page, diagnosis.metrics, diagnosis.known_answer, stages)
