"""What a world offers and a policy needs; compared before the first step of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heedful.spec.state import State

ActionMode = Literal["joint_absolute", "ee_delta", "ee_absolute"]
"""joint_absolute: [q1..q7 rad, gripper 0..1]. ee_delta: [dx dy dz m, droll dpitch dyaw rad,
gripper 0..1], added to the commanded pose. ee_absolute: [x y z m, roll pitch yaw rad,
gripper 0..1]; roll = pitch = yaw = 0 is the tool pointing straight down at home yaw.
Gripper: 0 closed, 1 open. Two robots: the vectors one after the other."""

ACTION_WIDTH: Mapping[ActionMode, int] = {"joint_absolute": 8, "ee_delta": 7, "ee_absolute": 7}
"""Numbers in one action of one robot."""

FARTHEST_STEP_M, FARTHEST_STEP_RAD = 0.15, 0.7
"""No robot is sent farther, or turns its tool or a joint by more, in one control step."""


@dataclass(frozen=True)
class CameraContract:
    """One image stream: uint8 RGB [height, width, 3], row 0 at the top of the picture."""

    name: str
    height_px: int
    width_px: int


@dataclass(frozen=True)
class Calibration:
    """A pinhole camera: a point p of the reference frame projects by K (R^T (p - t)).

    Attributes:
        frame: ``world``, or ``hand``: the pose is relative to the tool centre point.
        position_m: t, [3].
        rotation: R, [3, 3] row-major; columns are the camera's x (image right),
            y (image up) and z (backwards, away from the view) axes in ``frame``.
        fovy_rad: Vertical field of view.
    """

    frame: Literal["world", "hand"]
    position_m: tuple[float, float, float]
    rotation: tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]
    fovy_rad: float


@dataclass(frozen=True)
class WorldContract:
    """What a world offers."""

    cameras: tuple[str, ...]
    action_modes: tuple[ActionMode, ...]
    control_hz: float
    robots: int = 1
    calibration: Mapping[str, Calibration] = field(default_factory=dict)


@dataclass(frozen=True)
class PolicyContract:
    """What a policy needs and returns.

    Attributes:
        cameras: Image streams it looks at; empty when it needs no pixels.
        action_mode: What its actions mean.
        control_hz: The rate its actions are meant for.
        privileged_state: It reads the world's State (planted policies only).
        replan_steps: Actions executed before it looks again; ``None``: the whole chunk.
    """

    cameras: tuple[CameraContract, ...]
    action_mode: ActionMode
    control_hz: float
    privileged_state: bool = False
    replan_steps: int | None = None
    robots: int = 1


@dataclass(frozen=True, eq=False)
class Observation:
    """What a policy sees when it looks.

    Attributes:
        images_hwc_u8: Camera name -> uint8 [H, W, 3].
        proprioception: [R, 8]: tool x, y, z in m (world), roll, pitch, yaw in rad as in
            ``ee_absolute``, the two finger positions in m (their sum is the opening).
        joint_state: [R, 8]: seven joint angles in rad, gripper opening in m.
        step: Control steps since reset.
        state: The whole state, only for policies that declare ``privileged_state``.
    """

    images_hwc_u8: Mapping[str, NDArray[np.uint8]]
    proprioception: NDArray[np.float64]
    joint_state: NDArray[np.float64]
    step: int
    state: State | None = None


def mismatches(world: WorldContract, policy: PolicyContract) -> list[str]:
    """Return one line for every way in which the two contracts do not fit (both sides named)."""
    found = [
        f"camera {camera.name!r}: the policy needs it, the world has {list(world.cameras)}"
        for camera in policy.cameras
        if camera.name not in world.cameras
    ]
    if policy.action_mode not in world.action_modes:
        found.append(
            f"action mode: the policy returns {policy.action_mode}, "
            f"the world takes {list(world.action_modes)}"
        )
    if abs(policy.control_hz - world.control_hz) > 1e-6:
        found.append(f"rate: the policy acts at {policy.control_hz} Hz, the world at {world.control_hz} Hz")
    if policy.robots > world.robots:
        found.append(f"robots: the policy drives {policy.robots}, the world has {world.robots}")
    return found
