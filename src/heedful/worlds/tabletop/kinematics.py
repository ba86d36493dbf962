"""Tool poses and joint angles: forward kinematics and damped least squares.

Orientation convention of the whole world: R = Rz(yaw) Ry(pitch) Rx(roll) D, where D turns
the tool straight down at home yaw; so roll = pitch = yaw = 0 is straight down.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from heedful.worlds.tabletop.robot import JOINTS, POSTURE_RAD, add_panda

F64 = NDArray[np.float64]
HOME_TOOL_M = (0.40, 0.0, 0.34)
_REGULARISER = 1e-4 * np.eye(6)
_POSTURE_GAIN = 0.1
_FORWARDS = np.full(JOINTS, 0.3)
_BACKWARDS = -_FORWARDS
"""The longest step of an iteration, in rad."""

_TOLERANCE = 2e-5  # m plus rad
_LIMIT_MARGIN_RAD = 0.01
_DOWN = np.diag([1.0, -1.0, -1.0])


def rotation_from_rpy(rpy_rad: F64) -> F64:
    """Return the tool's rotation matrix [3, 3] for roll, pitch, yaw [3]."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy_rad).tolist(), np.sin(rpy_rad).tolist()
    return np.array(  # Rz Ry Rx with the last two columns turned round, which is what D does
        [
            [cy * cp, -(cy * sp * sr - sy * cr), -(cy * sp * cr + sy * sr)],
            [sy * cp, -(sy * sp * sr + cy * cr), -(sy * sp * cr - cy * sr)],
            [-sp, -(cp * sr), -(cp * cr)],
        ]
    )


def rpy_from_rotation(rotation: F64) -> F64:
    """Return roll, pitch, yaw [3] of a tool rotation [3, 3]; the inverse of ``rotation_from_rpy``."""
    r = rotation @ _DOWN
    return np.array(
        [
            np.arctan2(r[2, 1], r[2, 2]),
            np.arctan2(-r[2, 0], np.hypot(r[0, 0], r[1, 0])),
            np.arctan2(r[1, 0], r[0, 0]),
        ]
    )


class Kinematics:
    """The arm alone, on its own scratch data: nothing here touches a running world."""

    def __init__(self) -> None:
        spec = mujoco.MjSpec()
        spec.compiler.degree, spec.compiler.discardvisual = False, True
        add_panda(spec, "r0_")
        self._model: Any = spec.compile()
        self._data: Any = mujoco.MjData(self._model)
        self._tool = self._model.site("r0_tool").id
        limits = self._model.jnt_range[:JOINTS]
        self.low_rad: F64 = limits[:, 0] + _LIMIT_MARGIN_RAD
        self.high_rad: F64 = limits[:, 1] - _LIMIT_MARGIN_RAD
        # Views into MuJoCo's own memory and room for results: IK runs in every control step, between two
        # calls that evict the cache, and what Python allocates there costs more than the arithmetic.
        self._joints: F64 = self._data.qpos[:JOINTS]
        self._at: F64 = self._data.site_xpos[self._tool]
        self._turned: F64 = self._data.site_xmat[self._tool].reshape(3, 3)
        degrees = self._model.nv  # the fingers' columns of the Jacobian stay zero
        self._jacobian, self._squared, self._solved = np.zeros((6, degrees)), np.zeros((6, 6)), np.zeros(6)
        self._jacobian_parts = self._jacobian[:3], self._jacobian[3:]
        self._error, self._quaternion, self._missing_turn = np.zeros(6), np.zeros(4), np.zeros((3, 3))
        self._error_parts, self._missing_turn_flat = (
            (self._error[:3], self._error[3:]),
            self._missing_turn.ravel(),
        )
        whole_step = np.zeros(degrees)
        self._step = whole_step, whole_step[:JOINTS]

    def forward(self, joints_rad: F64) -> tuple[F64, F64]:
        """Return the tool's position [3] in m and rotation [3, 3] at ``joints_rad`` [7]."""
        self._joints[:] = joints_rad
        mujoco.mj_kinematics(self._model, self._data)
        return self._at.copy(), self._turned.copy()

    def inverse(
        self, start_rad: F64, position_m: F64, rotation: F64, iterations: int = 12
    ) -> tuple[F64, float]:
        """Return joint angles [7] whose tool pose is the given one, and what remains of the error.

        Damped least squares from ``start_rad``, dq = J^T (J J^T + d I)^-1 e; the first step
        also goes a tenth of the way towards ``POSTURE_RAD`` in the null space of J, later
        ones only mend the tool pose. Pure: equal arguments, equal bits.

        Returns:
            The angles, inside the joint limits, and the remaining distance (m) plus
            turn (rad) of the tool: near zero unless the pose is out of reach.
        """
        model, data, joints = self._model, self._data, self._joints
        error, (distance, turn) = self._error, self._error_parts
        jacobian, (moving, turning) = self._jacobian, self._jacobian_parts
        missing, quaternion, missing_flat = self._missing_turn, self._quaternion, self._missing_turn_flat
        squared, solved, (whole, step) = self._squared, self._solved, self._step
        q = np.array(start_rad, dtype=np.float64)
        for iteration in range(iterations + 1):
            joints[:] = q
            mujoco.mj_kinematics(model, data)
            np.subtract(position_m, self._at, out=distance)
            mujoco.mju_mulMatMatT(missing, rotation, self._turned)
            mujoco.mju_mat2Quat(quaternion, missing_flat)
            mujoco.mju_quat2Vel(turn, quaternion, 1.0)
            remaining = math.sqrt(distance.dot(distance)) + math.sqrt(turn.dot(turn))
            if remaining < _TOLERANCE or iteration == iterations:
                break
            mujoco.mj_comPos(model, data)
            mujoco.mj_jacSite(model, data, moving, turning, self._tool)
            mujoco.mju_mulMatMatT(squared, jacobian, jacobian)
            squared += _REGULARISER
            mujoco.mju_cholFactor(squared, 0.0)
            if iteration == 0:
                pull = _POSTURE_GAIN * (POSTURE_RAD - q)
                mujoco.mju_cholSolve(solved, squared, error - jacobian[:, :JOINTS] @ pull)
                mujoco.mju_mulMatTVec(whole, jacobian, solved)
                step += pull
            else:
                mujoco.mju_cholSolve(solved, squared, error)
                mujoco.mju_mulMatTVec(whole, jacobian, solved)
            np.maximum(step, _BACKWARDS, out=step)
            np.minimum(step, _FORWARDS, out=step)
            q += step
            np.maximum(q, self.low_rad, out=q)
            np.minimum(q, self.high_rad, out=q)
        return q, remaining

    def home(self) -> F64:
        """Return the joint angles [7] of the pose every episode starts in."""
        q, _ = self.inverse(POSTURE_RAD, np.array(HOME_TOOL_M), _DOWN, iterations=200)
        return q


@cache
def arm() -> Kinematics:
    """Return this process's kinematics of the arm; compiled at the first call."""
    return Kinematics()
