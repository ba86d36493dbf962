"""Demonstrations turned into the tensors that training draws from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.policies.reference.config import CameraSetup, MapGrid
from heedful.policies.reference.frames import Frames, keep
from heedful.policies.reference.maps import CELL, warp
from heedful.policies.reference.network import LOOK_PHASES
from heedful.spec.codec import digest
from heedful.spec.contract import Calibration
from heedful.spec.demonstration import Demonstration
from heedful.spec.errors import UserError

TABLE_PIXEL_M, TOOL_PIXEL_M = 0.004, 0.0025
TABLE_MARGIN_M, TOOL_REACH_M = 0.08, 0.12
_BOUND_MARGIN = np.array([0.01, 0.01, 0.002, 0.1])


@dataclass(frozen=True, eq=False)
class Views:
    """Warped images of one camera with what belongs to them; M of them.

    Attributes:
        maps_u8: [M, 3, rows, columns].
        text: [M] index into ``Samples.texts``.
        weight: [M] how often each should be drawn.
        tool: [M, 5] tool x, y, z (m), yaw (rad) and opening (m) when it was seen.
        keypose: [M, 3, 5] the demonstration's keyposes of the three looking phases: x, y, z
            (m), yaw (rad), gripper (0..1).
    """

    maps_u8: Tensor
    text: Tensor
    weight: Tensor
    tool: Tensor
    keypose: Tensor


@dataclass(frozen=True, eq=False)
class Samples:
    """All that training needs of N demonstrations.

    Attributes:
        texts: The distinct instructions.
        table: Views of the fixed camera in phase 0.
        tool: Views of the wrist camera in phases 1 and 2.
        grids: The maps of the two cameras.
        cameras: The fixed and the wrist camera.
        demo_text: [N] index into ``texts``.
        demo_keypose: [N, 5, 5] each demonstration's five keyposes.
        fps: Rate of the demonstrations.
        fingerprint: Digest of texts, labels and frames.
    """

    texts: tuple[str, ...]
    table: Views
    tool: Views
    grids: tuple[MapGrid, MapGrid]
    cameras: tuple[CameraSetup, CameraSetup]
    demo_text: Tensor
    demo_keypose: Tensor
    fps: float
    fingerprint: str

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest labelled x, y, z (m), yaw (rad), with a margin; [4] each."""
        flat = self.demo_keypose[..., :4].reshape(-1, 4).double().numpy()
        return flat.min(0) - _BOUND_MARGIN, flat.max(0) + _BOUND_MARGIN


def table_grid(places_m: NDArray[np.float64]) -> MapGrid:
    """Return the table map that holds all labelled places [N, 2] and a margin around them."""
    low, high = places_m.min(0) - TABLE_MARGIN_M, places_m.max(0) + TABLE_MARGIN_M
    cells = np.ceil((high - low) / (TABLE_PIXEL_M * CELL)).astype(int)
    x, y = np.round(low, 4).tolist()
    return MapGrid(x, y, int(cells[0]) * CELL, int(cells[1]) * CELL, TABLE_PIXEL_M)


def tool_grid() -> MapGrid:
    """Return the map that moves with the tool: a square around it."""
    side = 2 * round(TOOL_REACH_M / TOOL_PIXEL_M)
    return MapGrid(-TOOL_REACH_M, -TOOL_REACH_M, side, side, TOOL_PIXEL_M)


def gather(demonstrations: Iterable[Demonstration], calibration: Mapping[str, Calibration]) -> Samples:
    """Return the samples of ``demonstrations``; each is read once and can then be forgotten.

    Raises:
        UserError: There are none, one lacks a phase, or their cameras or rates differ.
    """
    kept = [keep(demonstration, calibration) for demonstration in demonstrations]
    if not kept:
        raise UserError("There are no demonstrations to train on.")
    if any((k.cameras, k.fps) != (kept[0].cameras, kept[0].fps) for k in kept):
        raise UserError("The demonstrations differ in their cameras, image sizes or rate.")
    cameras = kept[0].cameras
    texts = tuple(dict.fromkeys(k.task for k in kept))
    text = np.array([texts.index(k.task) for k in kept])
    poses = np.stack([k.keyposes for k in kept])
    grids = (table_grid(poses[:, 0, :2]), tool_grid())
    frames = ([k.table for k in kept], [k.tool for k in kept])
    table, tool = (_views(f, text, poses, c, g) for f, c, g in zip(frames, cameras, grids, strict=True))
    seen = [float(views.maps_u8.float().mean()) for views in (table, tool)]
    return Samples(
        texts=texts,
        table=table,
        tool=tool,
        grids=grids,
        cameras=cameras,
        demo_text=torch.from_numpy(text),
        demo_keypose=torch.from_numpy(poses).float(),
        fps=kept[0].fps,
        fingerprint=digest([texts, text.tolist(), poses.round(6).tolist(), seen]),
    )


def _views(
    frames: Sequence[Frames],
    text: NDArray[np.int64],
    poses: NDArray[np.float64],
    camera: CameraSetup,
    grid: MapGrid,
) -> Views:
    """Return the frames of all demonstrations, warped, with their labels."""
    counts = [len(f.weight) for f in frames]
    maps = [warp(f.images_hwc_u8, grid, camera.calibration, f.tool[:, :4]) for f in frames]
    return Views(
        maps_u8=torch.from_numpy(np.concatenate(maps)),
        text=torch.from_numpy(np.repeat(text, counts)),
        weight=torch.from_numpy(np.concatenate([f.weight for f in frames])),
        tool=torch.from_numpy(np.concatenate([f.tool for f in frames])).float(),
        keypose=torch.from_numpy(np.repeat(poses[:, : len(LOOK_PHASES)], counts, axis=0)).float(),
    )
