"""Guesses from one answer: what a server probably takes for granted that heedful was not told."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heedful.policies.conventions.conversion import OPEN_M, world_actions
from heedful.policies.conventions.model import GRIPPERS, WIDTHS, Conventions
from heedful.spec.contract import FARTHEST_STEP_M, FARTHEST_STEP_RAD, Observation

F64 = NDArray[np.float64]

SLOW_M = 0.001
"""A whole chunk whose largest step is below this gets nowhere."""

_MARGIN = 0.1


@dataclass(frozen=True)
class Advice:
    """What looks wrong in an answer, and what mends it.

    Attributes:
        line: In plain words.
        option: What to write into the reference, ``KEY=VALUE``; empty where nothing there helps.
        certain: It is wrong; otherwise it may be.
    """

    line: str
    option: str
    certain: bool = False


def action_names(conventions: Conventions) -> tuple[str, ...]:
    """Return what the numbers of an action are called, in order."""
    if conventions.action.startswith("joint"):
        return (*(f"joint {i}" for i in range(1, 8)), "gripper")
    turn = ("roll", "pitch", "yaw") if conventions.rotation == "rpy" else ("turn x", "turn y", "turn z")
    return ("x", "y", "z", *turn, "gripper")


def advice(conventions: Conventions, actions: F64, observation: Observation) -> list[Advice]:
    """Return what looks wrong in ``actions``.

    Args:
        conventions: What the numbers were taken to mean.
        actions: [T, A] as they came from the server.
        observation: What the server saw.
    """
    if not actions.size:
        return [Advice("The answer holds no action at all.", "", True)]
    width = WIDTHS[conventions.action]
    if actions.shape[1] != width:
        return [_wrong_width(actions.shape[1], width, conventions)]
    if not np.isfinite(actions).all():
        return [Advice("The actions hold numbers that are not finite (nan or inf).", "", True)]
    found = [
        _far(conventions, actions, observation),
        _slow(conventions, actions),
        _chunk(conventions, actions),
    ]
    # Numbers of another range say nothing about the sign.
    found.append(
        _gripper_range(conventions, actions[:, -1]) or _gripper_sign(conventions, actions, observation)
    )
    return [one for one in found if one is not None]


def _wrong_width(found: int, wanted: int, conventions: Conventions) -> Advice:
    line = f"An action holds {found} numbers; {conventions.action} needs {wanted}."
    if found == 8:
        return Advice(
            f"{line} Eight are seven joints and a gripper.", "action=joint_absolute or joint_delta", True
        )
    if found == 7:
        return Advice(f"{line} Seven are a tool pose and a gripper.", "action=ee_delta or ee_absolute", True)
    if found > 8:
        return Advice(f"{line} The server seems not to cut off its model's padding.", "", True)
    return Advice(line, "", True)


def _far(conventions: Conventions, actions: F64, observation: Observation) -> Advice | None:
    """Say so if the first action is a jump, and whether the numbers look like changes or like goals."""
    first = world_actions(replace(conventions, clip=False), actions, observation)[0]
    raw, tool, joints = actions[0], observation.proprioception[0], observation.joint_state[0, :7]
    if conventions.action in ("joint_absolute", "joint_delta"):
        jump = float(np.abs(first[:7] - joints).max())
        if jump <= FARTHEST_STEP_RAD:
            return None
        line = f"The first action turns a joint by {jump:.2f} rad in one step"
        if conventions.action == "joint_absolute" and np.abs(raw[:7]).max() < FARTHEST_STEP_RAD:
            return Advice(f"{line}; numbers as small as these look like changes.", "action=joint_delta")
        if conventions.action == "joint_delta" and np.abs(raw[:7] - joints).max() < FARTHEST_STEP_RAD:
            return Advice(f"{line}; the numbers look like joint angles.", "action=joint_absolute")
        return Advice(f"{line}; the unit may be another one.", "scale_rad=...")
    goal = first[:3] - tool[:3] if conventions.action == "ee_absolute" else first[:3]
    jump = float(np.linalg.norm(goal))
    if jump <= FARTHEST_STEP_M:
        return None
    line = f"The first action moves the tool by {jump:.2f} m in one step"
    if conventions.action == "ee_absolute" and np.linalg.norm(raw[:3]) < FARTHEST_STEP_M:
        return Advice(f"{line}; numbers as small as these look like changes.", "action=ee_delta")
    if conventions.action == "ee_delta" and np.linalg.norm(raw[:3] - tool[:3]) < FARTHEST_STEP_M:
        return Advice(f"{line}; the numbers look like a place near the tool.", "action=ee_absolute&scale_m=1")
    if conventions.action == "ee_absolute" and np.abs(raw[:6]).max() <= 1.0:
        return Advice(
            f"{line}; all numbers are within -1..1 and may be scaled changes.", "action=ee_delta&scale_m=0.05"
        )
    if conventions.action == "ee_delta" and np.abs(raw[:6]).max() <= 1.0:
        return Advice(f"{line}; the numbers look scaled to -1..1.", "scale_m=0.05&scale_rad=0.5")
    return Advice(f"{line}; the unit may be another one.", "scale_m=...")


def _slow(conventions: Conventions, actions: F64) -> Advice | None:
    if conventions.action != "ee_delta":
        return None
    steps = np.linalg.norm(actions[:, :3], axis=1) * conventions.scale_m
    if 0 < steps.max() < SLOW_M and conventions.scale_m < 1:
        return Advice(
            f"The largest step of a chunk is {steps.max() * 1000:.2f} mm; they may be metres already.",
            "scale_m=1&scale_rad=1",
        )
    return None


def _chunk(conventions: Conventions, actions: F64) -> Advice | None:
    count = len(actions)
    if conventions.chunk is not None and conventions.chunk != count:
        return Advice(f"The answer holds {count} actions, not {conventions.chunk}.", f"chunk={count}", True)
    if conventions.replan is not None and conventions.replan > count:
        return Advice(
            f"{conventions.replan} actions should be executed before a look; the answer holds {count}.",
            f"replan={count}",
        )
    return None


def _gripper_range(conventions: Conventions, gripper: F64) -> Advice | None:
    low, high = sorted(GRIPPERS[conventions.gripper])
    if gripper.min() >= low - _MARGIN and gripper.max() <= high + _MARGIN:
        return None
    line = f"The gripper's numbers go from {gripper.min():.2f} to {gripper.max():.2f}; "
    line += f"{conventions.gripper} has {low:g} to {high:g}."
    if gripper.min() >= -1 - _MARGIN and gripper.max() <= 1 + _MARGIN:
        return Advice(line, "gripper=close_positive or close_negative", True)
    return Advice(f"{line} They may be no openings at all.", "gripper=...", True)


def _gripper_sign(conventions: Conventions, actions: F64, observation: Observation) -> Advice | None:
    """Say so if an open hand with nothing in it begins by closing, which a reversed sign looks like."""
    opened, closed = GRIPPERS[conventions.gripper]
    openings = (actions[:, -1] - closed) / (opened - closed)
    if observation.joint_state[0, 7] < OPEN_M / 2 or openings[0] >= 0.5:
        return None
    reverse = {
        "close_positive": "close_negative",
        "close_negative": "close_positive",
        "close_one": "open_one",
        "open_one": "close_one",
    }[conventions.gripper]
    return Advice(
        "The first action closes the open gripper before the arm has moved: its sign may be the other one.",
        f"gripper={reverse}",
    )
