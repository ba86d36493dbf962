"""What can stand on the table: colors, shapes with their measures, sizes and regions.

Pure data and arithmetic, free of the simulator, so that suites and experts can read it.
Lengths of a shape are those of the standard size; a size multiplies all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi

from heedful.spec.errors import unknown

Rgba = tuple[float, float, float, float]
Box = tuple[float, float, float, float]

COLORS: Mapping[str, Rgba] = {
    "red": (0.78, 0.04, 0.08, 1.0),
    "yellow": (0.96, 0.86, 0.10, 1.0),
    "blue": (0.10, 0.25, 0.85, 1.0),
    "orange": (1.00, 0.44, 0.00, 1.0),
    "green": (0.10, 0.60, 0.15, 1.0),
    "black": (0.06, 0.06, 0.06, 1.0),
}

SIZES: Mapping[str, float] = {
    "smallest": 0.60,
    "smaller": 0.72,
    "small": 0.86,
    "large": 1.03,
    "larger": 1.17,
    "largest": 1.33,
}
"""Size word -> scale, in ascending order; no word is the standard size, scale 1.

Neighbours differ by 13 to 20 %, which shows at 96 px; the largest star still fits the gripper.
"""

AREA: Box = (0.34, 0.64, -0.20, 0.20)
"""x_lo, x_hi, y_lo, y_hi (m) of the object centres when a scene names no region."""

REGIONS: Mapping[str, Box] = {
    "left": (0.45, 0.53, -0.20, -0.13),
    "right": (0.45, 0.53, 0.13, 0.20),
    "middle": (0.46, 0.52, -0.035, 0.035),
    "front": (0.60, 0.66, -0.035, 0.035),
    "behind": (0.32, 0.38, -0.035, 0.035),
}
"""Words of the agent camera's picture: right is +y, front (nearer the camera) is +x.

x_lo, x_hi, y_lo, y_hi (m) of the object centres; at least 0.08 m lies between any two
regions, so objects in neighbouring regions of the standard size do not touch.
"""


@dataclass(frozen=True)
class Shape:
    """The measures of a shape that placing and grasping need (standard size, m and rad).

    Attributes:
        half_height_m: From the table to the body's origin, its geometric centre.
        footprint_radius_m: Largest distance of any of its points from the vertical
            through the origin.
        grasp_height_m: Height of the tool above the table when the fingers close.
        grasp_width_m: Extent between the fingers when they come down in line with the shape.
        grasp_offset_m: How far the grasp is from the origin along the shape's own +y,
            the closing direction.
        yaw_period_rad: Turning by this much looks the same to the gripper.
        yaw_centre_rad: The middle of the window of that width in which the grasp yaw is
            chosen; off zero where it keeps the last joint away from its limit.
        push_radius_m: A pusher that comes along any line through the origin meets the
            shape at this distance or nearer.
        push_height_m: Height of the tool above the table when it pushes.
        round: It looks the same from every side, so the gripper stays at its home yaw.
    """

    half_height_m: float
    footprint_radius_m: float
    grasp_height_m: float
    grasp_width_m: float
    push_radius_m: float
    push_height_m: float
    grasp_offset_m: float = 0.0
    yaw_period_rad: float = pi / 2
    yaw_centre_rad: float = 0.0
    round: bool = False


SHAPES: Mapping[str, Shape] = {
    "cube": Shape(0.022, 0.0312, 0.022, 0.044, 0.0312, 0.018),
    "sphere": Shape(0.026, 0.026, 0.026, 0.052, 0.026, 0.026, round=True),
    "cup": Shape(0.026, 0.039, 0.030, 0.048, 0.026, 0.020, yaw_period_rad=pi, yaw_centre_rad=0.35),
    "car": Shape(0.021, 0.0441, 0.020, 0.037, 0.0441, 0.018, yaw_period_rad=pi, yaw_centre_rad=0.35),
    "pyramid": Shape(0.028, 0.0396, 0.018, 0.041, 0.0396, 0.018),
    "star": Shape(0.014, 0.032, 0.018, 0.0525, 0.032, 0.018, grasp_offset_m=0.006, yaw_period_rad=2 * pi / 5),
}


def scale_of(size: str | None) -> float:
    """Return the factor on all lengths for a size word; ``None`` is the standard size, 1.

    >>> scale_of(None), scale_of("small")
    (1.0, 0.86)
    """
    if size is None:
        return 1.0
    if size not in SIZES:
        raise unknown("size", size, SIZES)
    return SIZES[size]


def shape_of(name: str) -> Shape:
    """Return the measures of the shape called ``name``; ``UserError`` if there is none."""
    if name not in SHAPES:
        raise unknown("shape", name, SHAPES)
    return SHAPES[name]


def rest_height_m(shape: str, scale: float = 1.0) -> float:
    """Return the height of the body's origin when the object stands on the table."""
    return shape_of(shape).half_height_m * scale


def footprint_radius_m(shape: str, scale: float = 1.0) -> float:
    """Return the radius of the disc on the table that the object never leaves as it turns."""
    return shape_of(shape).footprint_radius_m * scale
