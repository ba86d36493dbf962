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
_LONGEST_STEP_RAD = 0.3
_TOLERANCE = 2e-5  # m plus rad
_LIMIT_MARGIN_RAD = 0.01
_DOWN = np.diag([1.0, -1.0, -1.0])


def rotation_from_rpy(rpy_rad: F64) -> F64:
    """Return the tool's rotation matrix [3, 3] for roll, pitch, yaw [3]."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy_rad), np.sin(rpy_rad)
    return (
        np.array(
            [
                [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                [-sp, cp * sr, cp * cr],
            ]
        )
        @ _DOWN
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
        self._jacobian = np.zeros((6, self._model.nv))

    def forward(self, joints_rad: F64) -> tuple[F64, F64]:
        """Return the tool's position [3] in m and rotation [3, 3] at ``joints_rad`` [7]."""
        self._data.qpos[:JOINTS] = joints_rad
        mujoco.mj_kinematics(self._model, self._data)
        return self._data.site_xpos[self._tool].copy(), self._data.site_xmat[self._tool].reshape(3, 3).copy()

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
        model, data = self._model, self._data
        q = np.array(start_rad, dtype=np.float64)
        error = np.zeros(6)
        remaining = np.inf
        for iteration in range(iterations + 1):
            at, turned = self.forward(q)
            error[:3] = position_m - at
            error[3:] = _turn(rotation @ turned.T)
            remaining = math.sqrt(error[:3] @ error[:3]) + math.sqrt(error[3:] @ error[3:])
            if remaining < _TOLERANCE or iteration == iterations:
                break
            mujoco.mj_comPos(model, data)
            mujoco.mj_jacSite(model, data, self._jacobian[:3], self._jacobian[3:], self._tool)
            jacobian = self._jacobian[:, :JOINTS]
            squared = jacobian @ jacobian.T + _REGULARISER
            if iteration == 0:
                pull = _POSTURE_GAIN * (POSTURE_RAD - q)
                step = pull + jacobian.T @ np.linalg.solve(squared, error - jacobian @ pull)
            else:
                step = jacobian.T @ np.linalg.solve(squared, error)
            step = np.minimum(np.maximum(step, -_LONGEST_STEP_RAD), _LONGEST_STEP_RAD)
            q = np.minimum(np.maximum(q + step, self.low_rad), self.high_rad)
        return q, remaining

    def home(self) -> F64:
        """Return the joint angles [7] of the pose every episode starts in."""
        q, _ = self.inverse(POSTURE_RAD, np.array(HOME_TOOL_M), _DOWN, iterations=200)
        return q


@cache
def arm() -> Kinematics:
    """Return this process's kinematics of the arm; compiled at the first call."""
    return Kinematics()


def _turn(rotation: F64) -> F64:
    """Return the rotation vector [3] of a rotation matrix."""
    quaternion, vector = np.zeros(4), np.zeros(3)
    mujoco.mju_mat2Quat(quaternion, rotation.ravel())
    mujoco.mju_quat2Vel(vector, quaternion, 1.0)
    return vector
