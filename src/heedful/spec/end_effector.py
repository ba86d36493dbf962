"""The way an end effector took in one episode, and whether the episode succeeded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

NO_WORDS = "empty_instruction"
"""The arm of episodes that were told nothing: they have no task of their own."""


@dataclass(frozen=True, eq=False)
class EndEffectorPath:
    """One judged episode as a line in space.

    Attributes:
        policy: What reports call the policy.
        task: What was to be reached; episodes of one task share it, however it was worded.
        episode: Identity of the episode, unique within its policy and task.
        success: Whether the task was done.
        positions_m: [T, 3] end-effector positions, T of at least 1, one a control step.
        arm: What the episode is for: ``paraphrase``, ``original``; empty where not said.
        cell: The cell it is counted in, empty where not said.
        category: The category of that cell, empty where not said.
        instruction: The exact words that the policy received, empty where not said.
        target_m: [3] where the object that the task is about stood at the start; ``None``
            where not known.
    """

    policy: str
    task: str
    episode: str
    success: bool
    positions_m: F64
    arm: str = ""
    cell: str = ""
    category: str = ""
    instruction: str = ""
    target_m: F64 | None = None


@dataclass(frozen=True, eq=False)
class RecordedPaths:
    """Every episode of one or several recordings.

    Attributes:
        paths: The judged ones.
        left_out: Policy -> reason -> episodes without a judged path: ``crashed``; ``abstained``
            (the judge could not tell); ``unscored`` (nothing there would have been a success).
    """

    paths: tuple[EndEffectorPath, ...]
    left_out: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
