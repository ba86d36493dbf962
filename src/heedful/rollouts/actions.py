"""What a policy returned, as actions: what is refused, and what no robot can execute as it is said."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from heedful.spec.contract import ACTION_WIDTH, FARTHEST_STEP_M, FARTHEST_STEP_RAD, PolicyContract

ABSURD = 1e6
"""A number above it in size is in no unit in use."""

_GRIPPER = (-0.05, 1.05)
_FARTHEST_M = 2.0
_TURN_RAD = 2 * math.pi


class BadActions(Exception):
    """A policy returned actions that no robot can execute."""


def checked_actions(returned: object, contract: PolicyContract) -> NDArray[np.float64]:
    """Return what a policy returned as float64 [T, A].

    Raises:
        BadActions: Wrong shape, or a number that is not finite or of absurd size.
    """
    width = ACTION_WIDTH[contract.action_mode] * contract.robots
    actions = np.array(returned, dtype=np.float64)
    if actions.ndim == 2 and len(actions) == 0 or actions.size == 0:
        return np.zeros((0, width))
    if actions.ndim != 2 or actions.shape[1] != width:
        raise BadActions(
            f"the policy returned actions of shape {list(actions.shape)}; "
            f"{contract.action_mode} needs [T, {width}]"
        )
    if not np.isfinite(actions).all():
        t, a = np.argwhere(~np.isfinite(actions))[0]
        raise BadActions(f"the policy returned {actions[t, a]} in action {t}, number {a}; all must be finite")
    if (np.abs(actions) > ABSURD).any():
        t, a = np.argwhere(np.abs(actions) > ABSURD)[0]
        raise BadActions(
            f"the policy returned {actions[t, a]:g} in action {t}, number {a}; "
            f"none may be above {ABSURD:g} in size"
        )
    return actions


def beyond_reach(actions: NDArray[np.float64], contract: PolicyContract) -> NDArray[np.bool_]:
    """Return [T]: which actions hold a number that no robot here can execute as it is said.

    A world does what it can instead, so that the numbers of such a policy say little. Always a gripper
    outside [-0.05, 1.05]; and by mode: ``ee_delta``: a step over 0.15 m or a turn over 0.7 rad, as the
    lengths of the two vectors; ``ee_absolute``: x, y or z beyond 2 m; ``joint_absolute``: an angle beyond
    a whole turn.

    Args:
        actions: [T, A], finite.
        contract: Says the mode and the number of robots.
    """
    each = actions.reshape(len(actions), contract.robots, ACTION_WIDTH[contract.action_mode])
    gripper, rest = each[..., -1:], each[..., :-1]
    beyond: NDArray[np.bool_] = np.any((gripper < _GRIPPER[0]) | (gripper > _GRIPPER[1]), axis=-1)
    if contract.action_mode == "ee_delta":
        beyond |= np.linalg.norm(rest[..., :3], axis=-1) > FARTHEST_STEP_M
        beyond |= np.linalg.norm(rest[..., 3:], axis=-1) > FARTHEST_STEP_RAD
    elif contract.action_mode == "ee_absolute":
        beyond |= np.any(np.abs(rest[..., :3]) > _FARTHEST_M, axis=-1)
    else:
        beyond |= np.any(np.abs(rest) > _TURN_RAD, axis=-1)
    result: NDArray[np.bool_] = np.any(beyond, axis=1)
    return result
