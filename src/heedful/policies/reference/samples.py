"""Demonstrations turned into the tensors that training draws from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.policies.reference.config import CameraSetup, MapGrid
from heedful.policies.reference.maps import CELL, warp
from heedful.policies.reference.network import LOOK_PHASES
from heedful.spec.codec import digest
from heedful.spec.contract import Calibration
from heedful.spec.demonstration import Demonstration
from heedful.spec.errors import UserError
from heedful.spec.keypose import PHASES

TABLE_PIXEL_M, TOOL_PIXEL_M = 0.004, 0.0025
TABLE_MARGIN_M, TOOL_REACH_M = 0.08, 0.12
HOME_FRAMES = 3
"""First frames of a demonstration: the arm is still where it is when a policy first looks."""
FRAMES = {0: 8, 1: 7, 2: 5}
"""Frames kept of each looking phase of a demonstration."""
_BOUND_MARGIN = np.array([0.01, 0.01, 0.002, 0.1])


@dataclass(frozen=True, eq=False)
class Views:
    """Warped images of one camera with what belongs to them; M of them.

    Attributes:
        maps_u8: [M, 3, rows, columns].
        text: [M] index into ``Samples.texts``.
        weight: [M] probability to be drawn.
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
        table, tool: Views of the fixed camera in phase 0, of the wrist camera in phases 1, 2.
        demo_text: [N] index into ``texts``.
        demo_keypose: [N, 5, 5] each demonstration's five keyposes.
        fps: Rate of the demonstrations.
        fingerprint: Digest of the labels and texts.
    """

    texts: tuple[str, ...]
    table: Views
    tool: Views
    demo_text: Tensor
    demo_keypose: Tensor
    fps: float
    fingerprint: str

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest labelled x, y, z (m), yaw (rad), with a margin; [4] each."""
        flat = self.demo_keypose[..., :4].reshape(-1, 4).double().numpy()
        return flat.min(0) - _BOUND_MARGIN, flat.max(0) + _BOUND_MARGIN


def keyposes(demonstration: Demonstration) -> NDArray[np.float64]:
    """Return the five keyposes, [5, 5], that ``demonstration`` heads for.

    Raises:
        UserError: It lacks one of the five phases.
    """
    found = []
    for phase in range(len(PHASES)):
        at = np.flatnonzero(demonstration.phase == phase)
        if not len(at):
            raise UserError(
                f"Demonstration of {demonstration.task!r} has no frame of phase {PHASES[phase]!r}; "
                "the reference policy learns from keyposes (annotation.keypose, annotation.phase)."
            )
        found.append(demonstration.keypose[at[0]])
    return np.stack(found)


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


def camera_setups(
    demonstration: Demonstration, calibration: Mapping[str, Calibration]
) -> tuple[CameraSetup, CameraSetup]:
    """Return the fixed and the wrist camera: one calibrated in the world, one in the hand.

    Raises:
        UserError: The demonstration has not exactly one calibrated camera of each kind.
    """
    setups: dict[str, list[CameraSetup]] = {}
    for name, images in sorted(demonstration.images_hwc_u8.items()):
        if name in calibration:
            setups.setdefault(calibration[name].frame, []).append(
                CameraSetup(name, images.shape[1], images.shape[2], calibration[name])
            )
    if [len(setups.get(frame, [])) for frame in ("world", "hand")] != [1, 1]:
        raise UserError(
            "The reference policy needs one calibrated fixed camera and one in the hand; the demonstrations "
            f"have {sorted(demonstration.images_hwc_u8)}, calibrated are {sorted(calibration)}."
        )
    return setups["world"][0], setups["hand"][0]


def _spread(frames: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return at most ``count`` of ``frames``, evenly spread, the first among them."""
    if len(frames) <= count:
        return frames
    kept: NDArray[np.intp] = frames[np.linspace(0, len(frames) - 1, count).round().astype(int)]
    return kept


def _chosen(phase: NDArray[np.int64]) -> dict[str, list[tuple[int, float]]]:
    """Return for each map the (frame, weight) pairs kept of a demonstration."""
    approach, hover, descend = (np.flatnonzero(phase == p) for p in LOOK_PHASES)
    home, rest = approach[:HOME_FRAMES], _spread(approach[HOME_FRAMES:], FRAMES[0] - HOME_FRAMES)
    hover, descend = _spread(hover, FRAMES[1]), _spread(descend, FRAMES[2])
    groups = {"table": [(home, 0.65), (rest, 0.35)], "tool": [(hover, 0.7), (descend, 0.3)]}
    return {
        name: [(int(frame), share / len(frames)) for frames, share in parts for frame in frames]
        for name, parts in groups.items()
    }


def gather(
    demonstrations: Iterable[Demonstration],
    calibration: Mapping[str, Calibration],
    table: MapGrid,
    tool: MapGrid,
) -> Samples:
    """Return the samples of ``demonstrations``; each is read once and can then be forgotten.

    Raises:
        UserError: There are none, one lacks a phase, or their cameras or rates differ.
    """
    texts: dict[str, int] = {}
    columns: dict[str, dict[str, list[NDArray[np.generic]]]] = {"table": {}, "tool": {}}
    demo_text: list[int] = []
    demo_keypose: list[NDArray[np.float64]] = []
    cameras: tuple[CameraSetup, CameraSetup] | None = None
    fps = 0.0
    for demonstration in demonstrations:
        setups = camera_setups(demonstration, calibration)
        if cameras is not None and (setups != cameras or demonstration.fps != fps):
            raise UserError("The demonstrations differ in their cameras, image sizes or rate.")
        cameras, fps = setups, demonstration.fps
        poses = keyposes(demonstration)
        text = texts.setdefault(demonstration.task, len(texts))
        demo_text.append(text)
        demo_keypose.append(poses)
        for (name, kept), camera, grid in zip(
            _chosen(demonstration.phase).items(), setups, (table, tool), strict=True
        ):
            at = np.array([frame for frame, _ in kept])
            ee = demonstration.ee_state[at]
            pose = ee[:, [0, 1, 2, 5]]
            images = demonstration.images_hwc_u8[camera.name][at]
            row = {
                "maps_u8": warp(images, grid, camera.calibration, pose),
                "text": np.full(len(at), text),
                "weight": np.array([weight for _, weight in kept]),
                "tool": np.concatenate([pose, ee[:, 6:8].sum(1, keepdims=True)], axis=1),
                "keypose": np.repeat(poses[None, : len(LOOK_PHASES)], len(at), axis=0),
            }
            for key, value in row.items():
                columns[name].setdefault(key, []).append(value)
    if cameras is None:
        raise UserError("There are no demonstrations to train on.")
    views = {name: _views(parts) for name, parts in columns.items()}
    stacked = np.stack(demo_keypose)
    return Samples(
        texts=tuple(texts),
        table=views["table"],
        tool=views["tool"],
        demo_text=torch.tensor(demo_text),
        demo_keypose=torch.from_numpy(stacked).float(),
        fps=fps,
        fingerprint=digest({"texts": list(texts), "text": demo_text, "keypose": stacked.round(6).tolist()}),
    )


def _views(parts: Mapping[str, list[NDArray[np.generic]]]) -> Views:
    """Return the concatenated columns as tensors."""
    joined = {key: torch.from_numpy(np.concatenate(value)) for key, value in parts.items()}
    return Views(
        maps_u8=joined["maps_u8"],
        text=joined["text"].long(),
        weight=joined["weight"].double(),
        tool=joined["tool"].float(),
        keypose=joined["keypose"].float(),
    )
