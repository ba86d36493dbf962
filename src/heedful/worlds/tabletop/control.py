"""From actions in any of the three modes to joint targets and a gripper command."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from heedful.spec.contract import ActionMode
from heedful.spec.errors import unknown
from heedful.worlds.tabletop.kinematics import F64, Kinematics, rotation_from_rpy, rpy_from_rotation
from heedful.worlds.tabletop.robot import JOINTS

_SIZES = {"joint_absolute": JOINTS + 1, "ee_delta": 7, "ee_absolute": 7}
_OUT_OF_REACH = 0.005


class Controller:
    """Holds what the arm is commanded to do.

    Attributes:
        command: [8] joint targets in rad, then the gripper (0 closed, 1 open).
    """

    def __init__(self, arm: Kinematics, mode: ActionMode, home_rad: F64) -> None:
        if mode not in _SIZES:
            raise unknown("action mode", mode, get_args(ActionMode))
        self._arm, self._mode = arm, mode
        self.command = np.append(home_rad, 1.0)
        self._pose = self._forward()

    def advance(self, action: NDArray[np.float64]) -> tuple[F64, F64]:
        """Take one action and return the command [8] before and after it.

        Joint targets are clipped to the joint limits. A tool pose out of reach is
        approached as far as the arm goes, and deltas then start from where it got to.

        Raises:
            ValueError: The action has the wrong length or is not finite.
        """
        action = np.asarray(action, dtype=np.float64)
        if action.shape != (_SIZES[self._mode],):
            raise ValueError(
                f"{self._mode} takes actions of {_SIZES[self._mode]} numbers, found the shape {action.shape}"
            )
        if not math.isfinite(action.dot(action)) and not np.isfinite(action).all():  # the first is quick
            raise ValueError(f"the action is not finite: {action.tolist()}")
        before, after = self.command, np.empty(JOINTS + 1)
        if self._mode == "joint_absolute":
            after[:JOINTS] = np.minimum(np.maximum(action[:JOINTS], self._arm.low_rad), self._arm.high_rad)
        else:
            wanted = action[:6] if self._mode == "ee_absolute" else self._pose + action[:6]
            rotation = rotation_from_rpy(wanted[3:])
            after[:JOINTS], remaining = self._arm.inverse(before[:JOINTS], wanted[:3], rotation)
            self._pose = wanted
        after[JOINTS] = min(max(action[-1], 0.0), 1.0)
        self.command = after
        if self._mode == "ee_delta" and remaining > _OUT_OF_REACH:
            self._pose = self._forward()
        return before, after

    def _forward(self) -> F64:
        position, rotation = self._arm.forward(self.command[:JOINTS])
        return np.concatenate([position, rpy_from_rotation(rotation)])
