"""Camera images warped onto the table plane through the known calibration.

In such a map an object keeps its size wherever it stands, left and right are always the same
columns, and a distance in pixels is a distance in metres.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from heedful.policies.reference.config import MapGrid
from heedful.spec.contract import Calibration

CELL = 4
"""Map pixels along the side of a cell of the attention grid."""


def cell_centres_m(grid: MapGrid) -> Tensor:
    """Return the x, y of the attention cells' centres, [rows / 4 * columns / 4, 2]."""
    return torch.from_numpy(_points(grid, CELL)).float()


@lru_cache(maxsize=8)
def _samples(grid: MapGrid) -> Tensor:
    """Return the four points in each pixel that ``warp`` averages, [4 * rows * columns, 2]."""
    return torch.from_numpy(_points(grid, 0.5)).float()


def _points(grid: MapGrid, every: float) -> NDArray[np.float64]:
    """Return the centres [N, 2] of squares of ``every`` pixels, row by row."""
    side = grid.pixel_m * every
    x = grid.x_m + (np.arange(round(grid.rows / every)) + 0.5) * side
    y = grid.y_m + (np.arange(round(grid.columns / every)) + 0.5) * side
    return np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)


def tool_rotation(yaw_rad: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rotations [B, 3, 3] of a tool that points straight down, turned by yaw [B].

    Its z axis points down, its x axis along the world's x at yaw 0.
    """
    c, s, zero = np.cos(yaw_rad), np.sin(yaw_rad), np.zeros_like(yaw_rad)
    rows = [[c, s, zero], [s, -c, zero], [zero, zero, zero - 1.0]]
    return np.moveaxis(np.array(rows), -1, 0)


def warp(
    images_hwc_u8: NDArray[np.uint8],
    grid: MapGrid,
    calibration: Calibration,
    tool_pose: NDArray[np.float64] | None = None,
) -> NDArray[np.uint8]:
    """Return the images as seen on the table plane.

    Args:
        images_hwc_u8: [B, H, W, 3].
        grid: Where on the plane; relative to the tool for a camera in the hand.
        calibration: The camera.
        tool_pose: [B, 4] tool x, y, z (m) and yaw (rad); needed for a camera in the hand.

    Returns:
        uint8 [B, 3, grid.rows, grid.columns], black where the camera does not see.
    """
    batch, height, width, _ = images_hwc_u8.shape
    position, rotation = np.asarray(calibration.position_m)[None], np.asarray(calibration.rotation)[None]
    origin = np.array([[0.0, 0.0, grid.plane_m]])
    if calibration.frame == "hand":
        if tool_pose is None:
            raise ValueError("a camera in the hand needs the tool's pose")
        turn = tool_rotation(tool_pose[:, 3])
        position = tool_pose[:, :3] + turn @ position[0]
        rotation = turn @ rotation
        origin = np.concatenate([tool_pose[:, :2], np.full((batch, 1), grid.plane_m)], axis=1)
    # R^T (p - t) for p = origin + (x, y, 0), then divided by the depth: a homography of the plane.
    constant = ((origin - position)[:, None] @ rotation)[:, 0]
    half = np.tan(calibration.fovy_rad / 2)
    scale = np.array([height / width, -1.0, -half])
    slope = torch.from_numpy(rotation[:, :2] * scale).float()
    seen = _samples(grid) @ slope + torch.from_numpy(constant * scale).float()[:, None]
    depth = seen[..., 2:]
    uv = torch.where(depth > 1e-3, seen[..., :2] / depth, 2.0)  # 2: outside the image
    field = uv.reshape(len(uv), 2 * grid.rows, 2 * grid.columns, 2)
    images = torch.from_numpy(np.ascontiguousarray(images_hwc_u8)).permute(0, 3, 1, 2).float()
    sampled = F.grid_sample(images, field.expand(batch, -1, -1, -1), "bilinear", "zeros", False)
    mean = F.avg_pool2d(sampled, 2)
    result: NDArray[np.uint8] = mean.round().clamp(0, 255).to(torch.uint8).numpy()
    return result
