"""Where the two cameras are, in numbers that MuJoCo and a calibrated policy share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heedful.spec.contract import Calibration

TOOL_OFFSET_M = 0.1034
"""Distance from the hand's frame to the tool centre point, along the hand's z axis."""


def looking_at(
    position_m: tuple[float, float, float], target_m: tuple[float, float, float]
) -> NDArray[np.float64]:
    """Return the rotation [3, 3] of a level camera at ``position_m`` that looks at ``target_m``.

    Columns: image right, image up, backwards, in the world frame.
    """
    back = np.subtract(position_m, target_m)
    back /= np.linalg.norm(back)
    right = np.cross((0.0, 0.0, 1.0), back)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(back, right), back], axis=1)


def _calibration(
    frame: str, position_m: tuple[float, float, float], rotation: NDArray[np.float64], fovy_deg: float
) -> Calibration:
    rows = tuple(tuple(float(v) for v in row) for row in rotation)
    return Calibration(frame, position_m, rows, float(np.radians(fovy_deg)))  # type: ignore[arg-type]


_AGENT_M = (0.98, 0.0, 0.60)
_TILT = np.radians(15.0)

AGENT = _calibration("world", _AGENT_M, looking_at(_AGENT_M, (0.44, 0.0, 0.0)), 42.0)
"""Opposite the robot, looking back at it: image right is +y, nearer is +x."""

WRIST = _calibration(
    "hand",
    (0.08, 0.0, -TOOL_OFFSET_M),
    np.array([[0.0, np.cos(_TILT), np.sin(_TILT)], [1.0, 0.0, 0.0], [0.0, np.sin(_TILT), -np.cos(_TILT)]]),
    80.0,
)
"""On the hand, tilted 15 degrees towards the tool, so that it sees both finger tips."""

CALIBRATION = {"agent": AGENT, "wrist": WRIST}


def project(
    camera: Calibration, points_m: NDArray[np.float64], height_px: int, width_px: int
) -> NDArray[np.float64]:
    """Return where points [..., 3] of the camera's reference frame appear, [..., 2] (column, row) in pixels.

    Pixel centres are at whole numbers plus one half; row 0 is the top of the picture.
    """
    local = (points_m - np.asarray(camera.position_m)) @ np.asarray(camera.rotation)
    focal_px = height_px / 2 / np.tan(camera.fovy_rad / 2)
    scale = focal_px / -local[..., 2]
    return np.stack([width_px / 2 + scale * local[..., 0], height_px / 2 - scale * local[..., 1]], axis=-1)
