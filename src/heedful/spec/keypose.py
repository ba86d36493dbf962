"""Keyposes, and the action chunk that drives the arm to one of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PHASES = ("approach", "hover", "descend", "close", "act")
"""The five keyposes of every verb. ``push`` keeps the gripper closed throughout."""


@dataclass(frozen=True)
class Keypose:
    """Where the tool should be next.

    Attributes:
        position_m: x, y, z of the tool centre point in the world frame.
        yaw_rad: Rotation about the vertical; 0 is the home orientation.
        gripper: 0 closed to 1 open.
    """

    position_m: tuple[float, float, float]
    yaw_rad: float
    gripper: float


def chunk(
    start_position_m: NDArray[np.float64],
    start_yaw_rad: float,
    goal: Keypose,
    settle_steps: int = 2,
    max_step_m: float = 0.03,
    max_step_rad: float = 0.2,
) -> NDArray[np.float64]:
    """Return the ``ee_absolute`` actions [T, 7] that move the tool to ``goal`` and settle there.

    Args:
        start_position_m: [3] commanded tool position now.
        start_yaw_rad: Commanded yaw now.
        goal: Where to go; its gripper command holds for the whole chunk.
        settle_steps: Steps at the goal after arriving, at least 1.
        max_step_m: Largest change of the commanded position in one control step.
        max_step_rad: Largest change of the commanded yaw in one control step.
    """
    target = np.asarray(goal.position_m, dtype=np.float64)
    distance = float(np.linalg.norm(target - start_position_m))
    turn = abs(goal.yaw_rad - start_yaw_rad)
    moving = max(int(np.ceil(distance / max_step_m - 1e-9)), int(np.ceil(turn / max_step_rad - 1e-9)), 0)
    t = np.concatenate([np.arange(1, moving + 1) / max(moving, 1), np.ones(max(settle_steps, 1))])
    actions = np.zeros((len(t), 7))
    actions[:, :3] = start_position_m + t[:, None] * (target - start_position_m)
    actions[:, 5] = start_yaw_rad + t * (goal.yaw_rad - start_yaw_rad)
    actions[:, 6] = goal.gripper
    return actions


_SETTLE_STEPS = (1, 2, 3, 6, 4)
_ACT_STEP_M, _ACT_STEP_RAD = 0.012, 0.12


def phase_chunk(
    start_position_m: NDArray[np.float64], start_yaw_rad: float, goal: Keypose, phase: int
) -> NDArray[np.float64]:
    """Return ``chunk`` at the pace of ``phase``: how the experts and the policies drive.

    The arm settles as long as the phase needs (closing the fingers takes the longest), and
    acts at 0.24 m/s, so that a pushed object stays with the fingers.

    Args:
        start_position_m: [3] commanded tool position now.
        start_yaw_rad: Commanded yaw now.
        goal: Where to go.
        phase: Index into ``PHASES``; anything past the last acts like the last.
    """
    phase = min(phase, len(PHASES) - 1)
    if PHASES[phase] == "act":
        return chunk(start_position_m, start_yaw_rad, goal, _SETTLE_STEPS[phase], _ACT_STEP_M, _ACT_STEP_RAD)
    return chunk(start_position_m, start_yaw_rad, goal, _SETTLE_STEPS[phase])
