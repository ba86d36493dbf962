"""Observations into what goes over the wire, actions into what the world takes, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.policies.conventions.model import GRIPPERS, PIECES, Conventions, Flip, Piece
from heedful.spec.contract import Observation

F64 = NDArray[np.float64]
OPEN_M = 0.08
"""Opening of the gripper between the finger tips when it is open, see ``State``."""


def wire_images(conventions: Conventions, observation: Observation) -> dict[str, NDArray[np.uint8]]:
    """Return key on the wire -> the picture that goes out under it, uint8 [H, W, 3]."""
    return {
        key: flipped(observation.images_hwc_u8[camera.name], conventions.flip)
        for key, camera in conventions.cameras.items()
    }


def wire_state(conventions: Conventions, observation: Observation) -> dict[str, F64]:
    """Return key on the wire -> the state vector that goes out under it."""
    return {
        key: np.concatenate([_piece(piece, observation) for piece in pieces])
        for key, pieces in conventions.state.items()
    }


def world_actions(conventions: Conventions, actions: F64, observation: Observation) -> F64:
    """Return a server's actions as the world takes them (``Conventions.contract``).

    Actions that are meant in the world's own terms come back bit for bit.

    Args:
        conventions: What the server's numbers mean.
        actions: [T, A] as they came.
        observation: What the server saw: changes of angles start there.
    """
    found = np.array(actions, dtype=np.float64)
    if not len(found):
        return found
    if conventions.clip and conventions.action.endswith("delta"):
        found = np.clip(found, -1.0, 1.0)
    if conventions.action == "joint_delta":
        joints = observation.joint_state[0, :7]
        found[:, :7] = joints + np.cumsum(found[:, :7] * conventions.scale_rad, axis=0)
    elif conventions.action == "joint_absolute":
        found[:, :7] *= conventions.scale_rad
    else:
        found[:, :3] *= conventions.scale_m
        found[:, 3:6] *= conventions.scale_rad
        if conventions.rotation == "axis_angle":
            if conventions.action == "ee_delta":
                found[:, 3:6] = _rpy_changes(found[:, 3:6], observation.proprioception[0, 3:6])
            else:
                found[:, 3:6] = _rpy_of_axis_angle(found[:, 3:6])
    opened, closed = GRIPPERS[conventions.gripper]
    opening = (found[:, -1] - closed) / (opened - closed)
    found[:, -1] = opening >= 0.5 if conventions.gripper_binary else opening
    return found


def flipped(image_hwc_u8: NDArray[np.uint8], flip: Flip) -> NDArray[np.uint8]:
    """Return ``image_hwc_u8`` [H, W, 3] flipped; every flip undoes itself."""
    rows = -1 if flip in ("vertical", "both") else 1
    columns = -1 if flip in ("horizontal", "both") else 1
    return np.ascontiguousarray(image_hwc_u8[::rows, ::columns])


def observation_of(
    conventions: Conventions, images: Mapping[str, Any], state: Mapping[str, Any], step: int
) -> Observation:
    """Return the observation that went out as ``images`` and ``state``, as a server needs it.

    Only for conventions whose state holds the pieces ee_position, ee_rpy, fingers, joints and
    gripper_width: those of ``announcement.conventions_for``.

    Raises:
        ValueError: Something is missing or has another shape.
    """
    shown: dict[str, NDArray[np.uint8]] = {}
    for key, camera in conventions.cameras.items():
        wanted = (camera.height_px, camera.width_px, 3)
        image = _array(images, key)
        if image.dtype != np.uint8 or image.shape != wanted:
            raise ValueError(f"{key} is {image.dtype} {list(image.shape)}; uint8 {list(wanted)} is needed")
        shown[camera.name] = flipped(image, conventions.flip)
    parts: dict[str, F64] = {}
    for key, pieces in conventions.state.items():
        vector = np.asarray(_array(state, key), dtype=np.float64)
        wanted_numbers = sum(PIECES[piece][0] for piece in pieces)
        if vector.shape != (wanted_numbers,) or not np.isfinite(vector).all():
            raise ValueError(f"{key} is {list(vector.shape)}; {wanted_numbers} finite numbers are needed")
        ends = np.cumsum([PIECES[piece][0] for piece in pieces])
        parts.update(zip(pieces, np.split(vector, ends[:-1]), strict=True))
    pose = np.concatenate([parts["ee_position"], parts["ee_rpy"], parts["fingers"]])
    joints = np.concatenate([parts["joints"], parts["gripper_width"]])
    return Observation(shown, pose[None], joints[None], step)


def _array(values: Mapping[str, Any], key: str) -> NDArray[Any]:
    if key not in values:
        raise ValueError(f"{key} is missing; found {', '.join(sorted(map(str, values))) or 'nothing'}")
    value = values[key]
    if not isinstance(value, np.ndarray | list):
        raise ValueError(f"{key} is a {type(value).__name__}, not an array")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{key} is a list of lists of different lengths") from error


def _piece(piece: Piece, observation: Observation) -> F64:
    tool, joints = observation.proprioception[0], observation.joint_state[0]
    opening = np.clip(joints[7:8] / OPEN_M, 0.0, 1.0)
    found: F64
    if piece == "ee_position":
        found = tool[:3]
    elif piece == "ee_rpy":
        found = tool[3:6]
    elif piece == "ee_axis_angle":
        found = _axis_angle(tool[3:6])
    elif piece == "ee_axis_angle_short":
        found = _rotation(tool[3:6]).as_rotvec()
    elif piece == "ee_euler":
        found = _rotation(tool[3:6]).as_euler("xyz")
    elif piece == "ee_quaternion":
        found = _rotation(tool[3:6]).as_quat()
    elif piece == "fingers":
        found = tool[6:8]
    elif piece == "gripper_qpos":
        found = tool[6:8] * [1.0, -1.0]
    elif piece == "gripper_width":
        found = joints[7:8]
    elif piece == "gripper_open":
        found = opening
    elif piece == "gripper_closed":
        found = 1.0 - opening
    else:
        found = joints[:7]
    return found


def _down() -> Any:
    """Return the rotation that points the tool straight down at home yaw: pi about x."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat([1.0, 0.0, 0.0, 0.0])


def _rotation(rpy_rad: F64) -> Any:
    """Return the tool's rotation Rz(yaw) Ry(pitch) Rx(roll) D in the world frame."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_euler("ZYX", rpy_rad[..., ::-1]) * _down()


def _axis_angle(rpy_rad: F64) -> F64:
    """Return axis times angle on the branch that LIBERO's data are on.

    A tool that points down is turned by about pi, where axis and angle jump: of the two
    ways to say one rotation, that with a positive x is taken (its angle may exceed pi).
    """
    found: F64 = _rotation(rpy_rad).as_rotvec()
    angle = float(np.linalg.norm(found))
    return found * (1.0 - 2.0 * np.pi / angle) if found[0] < 0 and angle > np.pi / 2 else found


def _rpy_of_axis_angle(rotations: F64) -> F64:
    """Return roll, pitch, yaw [T, 3] of tool rotations [T, 3] in the world frame."""
    from scipy.spatial.transform import Rotation

    found: F64 = (Rotation.from_rotvec(rotations) * _down().inv()).as_euler("ZYX")[:, ::-1]
    return found


def _rpy_changes(turns: F64, rpy_rad: F64) -> F64:
    """Return the changes of roll, pitch, yaw [T, 3] that ``turns`` about the world's axes make one by one."""
    from scipy.spatial.transform import Rotation

    found = np.empty_like(turns)
    now = Rotation.from_euler("ZYX", rpy_rad[::-1])
    before = rpy_rad
    for t, turn in enumerate(turns):
        now = Rotation.from_rotvec(turn) * now
        after = now.as_euler("ZYX")[::-1]
        found[t] = (after - before + np.pi) % (2 * np.pi) - np.pi
        before = after
    return found
