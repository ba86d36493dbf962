"""What a policy takes for granted about pictures, states and actions, said out loud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from heedful.spec.contract import ACTION_WIDTH, ActionMode, CameraContract, PolicyContract
from heedful.spec.errors import UserError, unknown

Flip = Literal["none", "vertical", "horizontal", "both"]
"""What is done to an upright picture (row 0 at the top) before it goes out; both: turned by 180 degrees."""

Action = Literal["ee_delta", "ee_absolute", "joint_absolute", "joint_delta"]
"""As ``ActionMode``; joint_delta: changes of the seven joint angles, then the gripper."""

Rotation = Literal["rpy", "axis_angle"]
"""How three numbers are a rotation: roll, pitch, yaw as in ``ActionMode``, or axis times angle in rad."""

Gripper = Literal["close_positive", "close_negative", "close_one", "open_one"]
"""The last number of an action: -1 open to +1 closed, its reverse, 0 open to 1 closed, its reverse."""

Piece = Literal[
    "ee_position",
    "ee_rpy",
    "ee_axis_angle",
    "ee_axis_angle_short",
    "ee_euler",
    "ee_quaternion",
    "fingers",
    "gripper_qpos",
    "gripper_width",
    "gripper_open",
    "gripper_closed",
    "joints",
]
"""Part of a state vector; ``PIECES`` has what each is."""

PIECES: dict[Piece, tuple[int, str]] = {
    "ee_position": (3, "tool x, y, z in m"),
    "ee_rpy": (3, "tool roll, pitch, yaw in rad, 0 pointing straight down"),
    "ee_axis_angle": (3, "tool axis times angle in rad, pi about x pointing straight down"),
    "ee_axis_angle_short": (
        3,
        "the same, at most pi long: its sign flips pointing straight down",
    ),
    "ee_euler": (3, "tool angles about fixed x, y, z in rad, pi about x pointing straight down"),
    "ee_quaternion": (4, "tool quaternion x, y, z, w"),
    "fingers": (2, "two finger positions in m, both 0..0.04"),
    "gripper_qpos": (2, "two finger positions in m, 0..0.04 and -0.04..0"),
    "gripper_width": (1, "opening in m, 0..0.08"),
    "gripper_open": (1, "0 closed to 1 open"),
    "gripper_closed": (1, "0 open to 1 closed"),
    "joints": (7, "seven joint angles in rad"),
}
"""Piece -> how many numbers it has, and what they are."""

GRIPPERS: dict[Gripper, tuple[float, float]] = {
    "close_positive": (-1.0, 1.0),
    "close_negative": (1.0, -1.0),
    "close_one": (0.0, 1.0),
    "open_one": (1.0, 0.0),
}
"""Convention -> the numbers for open and closed."""

MODES: dict[Action, ActionMode] = {
    "ee_delta": "ee_delta",
    "ee_absolute": "ee_absolute",
    "joint_absolute": "joint_absolute",
    "joint_delta": "joint_absolute",
}
"""What the server's actions become for the world."""

WIDTHS: dict[Action, int] = {action: ACTION_WIDTH[mode] for action, mode in MODES.items()}
"""Numbers in one action, the gripper last."""


@dataclass(frozen=True)
class Conventions:
    """How observations go out to a server, and what its actions mean.

    Attributes:
        cameras: Key on the wire -> the camera that is sent under it, at its size.
        state: Key on the wire -> what its vector is made of, in order.
        prompt: Key of the instruction.
        action: What the actions are.
        rotation: How their three rotation numbers are meant.
        scale_m, scale_rad: Metres and radians in a 1 of an action.
        clip: Changes beyond -1..1 count as -1 or 1, as a robot's controller takes them.
        gripper: Range and sign of their last number.
        gripper_binary: The gripper only opens or closes: what is nearer.
        control_hz: The rate the actions are meant for.
        flip: What is done to every picture before it goes out.
        chunk: Actions in an answer; ``None``: any number.
        replan: Actions executed before the server sees the world again; ``None``: all.
    """

    __pydantic_config__ = {"extra": "forbid"}

    cameras: Mapping[str, CameraContract]
    state: Mapping[str, tuple[Piece, ...]]
    prompt: str
    action: Action
    gripper: Gripper
    rotation: Rotation = "rpy"
    scale_m: float = 1.0
    scale_rad: float = 1.0
    clip: bool = False
    gripper_binary: bool = False
    control_hz: float = 20.0
    flip: Flip = "none"
    chunk: int | None = None
    replan: int | None = None

    def contract(self) -> PolicyContract:
        """Return what these conventions ask of a world."""
        return PolicyContract(
            cameras=tuple(self.cameras.values()),
            action_mode=MODES[self.action],
            control_hz=self.control_hz,
            replan_steps=self.replan,
        )


def checked(conventions: Conventions, where: str) -> Conventions:
    """Return ``conventions`` if they hold together.

    Args:
        conventions: As read.
        where: What is being read, for the error line.

    Raises:
        UserError: An unknown name (the nearest is suggested), or values that exclude each other.
    """
    for kind, found, known in (
        ("flip", conventions.flip, get_args(Flip)),
        ("action", conventions.action, get_args(Action)),
        ("rotation", conventions.rotation, get_args(Rotation)),
        ("gripper", conventions.gripper, get_args(Gripper)),
    ):
        if found not in known:
            raise unknown(f"{kind} convention", str(found), known)
    for pieces in conventions.state.values():
        for piece in pieces:
            if piece not in PIECES:
                raise unknown("part of a state", str(piece), PIECES)
    for name in ("scale_m", "scale_rad", "control_hz"):
        value = getattr(conventions, name)
        if not 0 < value < float("inf"):
            raise UserError(f"{where}: {name} is {value:g}; it must be above 0.")
    for name in ("chunk", "replan"):
        value = getattr(conventions, name)
        if value is not None and value < 1:
            raise UserError(f"{where}: {name} is {value}; it must be at least 1.")
    keys = [*conventions.cameras, *conventions.state, conventions.prompt]
    for key in keys:
        if not key or keys.count(key) > 1:
            raise UserError(f"{where}: the key {key!r} is empty or stands for two things.")
    shown = [camera.name for camera in conventions.cameras.values()]
    for camera in conventions.cameras.values():
        if shown.count(camera.name) > 1:
            raise UserError(f"{where}: camera {camera.name!r} is sent under two keys.")
        if not (8 <= camera.height_px <= 4096 and 8 <= camera.width_px <= 4096):
            raise UserError(f"{where}: camera {camera.name!r} has a side below 8 or above 4096 px.")
    return conventions
