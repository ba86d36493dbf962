"""Where the gripper closes on an object, and whether it can."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heedful.spec.scene import SceneSpec
from heedful.spec.state import F64, State
from heedful.worlds.tabletop.catalog import Shape, scale_of, shape_of

GRIPPER_OPENING_M = 0.08
CLEARANCE_M = 0.004
"""Least room on either side of an object between the open fingers."""

LOWEST_TOOL_M = 0.017
"""The finger pads reach 9 mm below the tool centre point; the rest is for a
learned policy's error: fingers pressed on the table jam the arm."""


@dataclass(frozen=True)
class GraspPose:
    """The tool's pose when the fingers close; at yaw 0 they close along the world's y axis."""

    position_m: tuple[float, float, float]
    yaw_rad: float


@dataclass(frozen=True)
class Placed:
    """An object as it stands: its measures, its scale and its pose on the table."""

    shape: Shape
    scale: float
    position_m: tuple[float, float, float]
    yaw_rad: float


def placed(state: State, scene: SceneSpec, object_name: str) -> Placed:
    """Return the object called ``object_name`` as it stands in ``state``."""
    spec = scene.object(object_name)
    i = state.object_names.index(object_name)
    x, y, z = (float(v) for v in state.object_positions_m[i])
    return Placed(shape_of(spec.shape), scale_of(spec.size), (x, y, z), yaw_of(state.object_quaternions[i]))


def grasp_pose(item: Placed) -> GraspPose:
    """Return where and at which yaw to close on ``item``.

    Of the yaws that fit the shape equally, the one in the shape's window about
    ``yaw_centre_rad`` is chosen, so equal pictures have equal answers.
    """
    shape, period = item.shape, item.shape.yaw_period_rad
    from_centre = item.yaw_rad - shape.yaw_centre_rad
    yaw = shape.yaw_centre_rad + (from_centre + period / 2) % period - period / 2
    if shape.round:
        yaw = 0.0
    offset = shape.grasp_offset_m * item.scale
    x, y, _ = item.position_m
    height = max(shape.grasp_height_m * item.scale, LOWEST_TOOL_M)
    return GraspPose((x - offset * float(np.sin(yaw)), y + offset * float(np.cos(yaw)), height), float(yaw))


def cannot_do(verb: str, shape: str, size: str | None) -> str | None:
    """Return why no expert does ``verb`` on this shape at this size, ``None`` if one does.

    >>> cannot_do("push", "cube", "largest") is None
    True
    """
    width_m = shape_of(shape).grasp_width_m * scale_of(size)
    if verb != "push" and width_m + 2 * CLEARANCE_M > GRIPPER_OPENING_M:
        return f"{width_m * 1000:.0f} mm wide, the gripper opens {GRIPPER_OPENING_M * 1000:.0f} mm"
    return None


def yaw_of(quaternion: F64) -> float:
    """Return the angle in the world's xy plane of a body's own x axis, from a quaternion [4] (wxyz)."""
    w, x, y, z = quaternion
    return float(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
