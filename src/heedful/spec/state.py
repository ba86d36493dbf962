"""What a world knows of itself after a step, and the record of a whole rollout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
Bool = NDArray[np.bool_]

CONTACT_PARTS = ("left_finger", "right_finger", "hand")
"""The last axis of ``contacts``: which part of the robot touches the object."""


@dataclass(frozen=True, eq=False)
class State:
    """A snapshot of the world with R robots and N objects.

    Positions are in metres in the world frame (x away from the robot's base, y to the
    robot's left, z up; the table top is z = 0), quaternions wxyz.

    Attributes:
        time_s: Simulated time since reset.
        joints_rad: [R, 7] arm joint angles.
        ee_position_m: [R, 3] tool centre point, between the finger tips.
        ee_quaternion: [R, 4] tool orientation.
        gripper_m: [R] opening between the fingers, 0 (closed) to 0.08 (open).
        command: [R, 8] joint targets in rad, then the gripper command (0 closed, 1 open).
        object_names: N names, in the order of the arrays.
        object_positions_m: [N, 3]; the body origin is the object's geometric centre.
        object_quaternions: [N, 4].
        contacts: [R, N, 3] whether CONTACT_PARTS of each robot touch each object.
    """

    time_s: float
    joints_rad: F64
    ee_position_m: F64
    ee_quaternion: F64
    gripper_m: F64
    command: F64
    object_names: tuple[str, ...]
    object_positions_m: F64
    object_quaternions: F64
    contacts: Bool


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The states of one rollout, stacked: every array of ``State`` with a leading axis T.

    Row 0 is the state after reset, before the first action; row t follows action t.
    ``time_s`` is [T]; ``object_names`` is kept once.
    """

    time_s: F64
    joints_rad: F64
    ee_position_m: F64
    ee_quaternion: F64
    gripper_m: F64
    command: F64
    object_names: tuple[str, ...]
    object_positions_m: F64
    object_quaternions: F64
    contacts: Bool

    def __len__(self) -> int:
        return len(self.time_s)

    def index(self, name: str) -> int:
        """Return the position of the object called ``name`` on the object axis."""
        return self.object_names.index(name)

    @staticmethod
    def stack(states: Sequence[State]) -> Trajectory:
        """Return the trajectory of ``states`` (at least one, all with the same objects)."""
        columns = {
            f.name: np.stack([np.asarray(getattr(s, f.name)) for s in states])
            for f in fields(State)
            if f.name != "object_names"
        }
        return Trajectory(object_names=states[0].object_names, **columns)

    def at(self, t: int) -> State:
        """Return the snapshot of row ``t``."""
        columns = {f.name: getattr(self, f.name) for f in fields(State)}
        names = columns.pop("object_names")
        time_s = float(columns.pop("time_s")[t])
        return State(time_s=time_s, object_names=names, **{k: v[t] for k, v in columns.items()})
