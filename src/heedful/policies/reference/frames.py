"""The few frames of a demonstration that training looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.policies.reference.config import CameraSetup
from heedful.policies.reference.network import LOOK_PHASES
from heedful.spec.contract import Calibration
from heedful.spec.demonstration import Demonstration
from heedful.spec.errors import UserError
from heedful.spec.keypose import PHASES

HOME_FRAMES = 3
"""First frames of a demonstration: the arm is still where it is when a policy first looks."""
FRAMES = {0: 8, 1: 7, 2: 5}
"""Frames kept of each looking phase of a demonstration."""
_HOME_SHARE, _HOVER_SHARE = 0.65, 0.7


@dataclass(frozen=True, eq=False)
class Frames:
    """M frames of one camera.

    Attributes:
        images_hwc_u8: [M, H, W, 3].
        tool: [M, 5] tool x, y, z (m), yaw (rad) and opening (m) when they were seen.
        weight: [M] how often each should be drawn; they sum to 1.
    """

    images_hwc_u8: NDArray[np.uint8]
    tool: NDArray[np.float64]
    weight: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KeptDemonstration:
    """What is kept of a demonstration.

    Attributes:
        task: The instruction.
        keyposes: [5, 5] x, y, z (m), yaw (rad), gripper (0..1) of the five phases.
        table: Frames of the fixed camera in phase 0.
        tool: Frames of the wrist camera in phases 1 and 2.
        cameras: The fixed and the wrist camera.
        fps: Rate of the demonstration.
    """

    task: str
    keyposes: NDArray[np.float64]
    table: Frames
    tool: Frames
    cameras: tuple[CameraSetup, CameraSetup]
    fps: float


def keep(demonstration: Demonstration, calibration: Mapping[str, Calibration]) -> KeptDemonstration:
    """Return the frames of ``demonstration`` that training looks at; the rest can be forgotten.

    Raises:
        UserError: It lacks a phase, or has not one calibrated camera of each kind.
    """
    cameras = camera_setups(demonstration, calibration)
    poses = keyposes(demonstration)
    approach, hover, descend = (np.flatnonzero(demonstration.phase == p) for p in LOOK_PHASES)
    home, rest = approach[:HOME_FRAMES], _spread(approach[HOME_FRAMES:], FRAMES[0] - HOME_FRAMES)
    table = _frames(demonstration, cameras[0].name, (home, rest), _HOME_SHARE)
    parts = (_spread(hover, FRAMES[1]), _spread(descend, FRAMES[2]))
    tool = _frames(demonstration, cameras[1].name, parts, _HOVER_SHARE)
    return KeptDemonstration(demonstration.task, poses, table, tool, cameras, demonstration.fps)


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


def _frames(
    demonstration: Demonstration, camera: str, parts: tuple[NDArray[np.intp], NDArray[np.intp]], share: float
) -> Frames:
    """Return the frames of two ``parts``; the first is drawn with probability ``share``."""
    at = np.concatenate(parts)
    weight = np.concatenate(
        [np.full(len(p), s / max(1, len(p))) for p, s in zip(parts, (share, 1 - share), strict=True)]
    )
    ee = demonstration.ee_state[at]
    tool = np.concatenate([ee[:, [0, 1, 2, 5]], ee[:, 6:8].sum(1, keepdims=True)], axis=1)
    return Frames(demonstration.images_hwc_u8[camera][at], tool, weight / weight.sum())
