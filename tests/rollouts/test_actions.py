import math

import numpy as np
import pytest

from heedful.rollouts.actions import BadActions, beyond_reach, checked_actions
from heedful.spec.contract import ACTION_WIDTH, ActionMode, PolicyContract


def contract(mode: ActionMode = "ee_delta", robots: int = 1) -> PolicyContract:
    return PolicyContract((), mode, 20.0, robots=robots)


def clipped(mode: ActionMode, **at: float) -> bool:
    """Return whether an action that is nothing but ``a3=0.2`` and the like is beyond reach."""
    action = np.zeros((1, ACTION_WIDTH[mode]))
    for place, value in at.items():
        action[0, int(place[1:])] = value
    (found,) = beyond_reach(action, contract(mode))
    return bool(found)


@pytest.mark.parametrize("mode", ["ee_delta", "ee_absolute", "joint_absolute"])
def test_a_gripper_goes_from_0_to_1_and_a_little_beyond_is_rounding(mode: ActionMode) -> None:
    last = f"a{ACTION_WIDTH[mode] - 1}"
    assert [clipped(mode, **{last: value}) for value in (0, 1, -0.05, 1.05)] == [False] * 4
    assert [clipped(mode, **{last: value}) for value in (-1, 255, -0.051, 1.051)] == [True] * 4


def test_a_step_and_a_turn_are_measured_by_their_length() -> None:
    assert not clipped("ee_delta", a0=0.15) and clipped("ee_delta", a1=-0.151)
    assert not clipped("ee_delta", a0=0.1, a1=0.1) and clipped("ee_delta", a0=0.1, a1=0.1, a2=0.1)
    assert not clipped("ee_delta", a4=0.7) and clipped("ee_delta", a5=0.71)
    assert clipped("ee_delta", a3=0.5, a4=0.5)


def test_places_are_within_two_meters_and_angles_within_a_turn() -> None:
    assert not clipped("ee_absolute", a0=2.0, a1=-2.0, a2=2.0)
    assert clipped("ee_absolute", a2=-2.01)
    assert not clipped("ee_absolute", a5=100.0)  # a turn is a turn, however often
    assert not clipped("joint_absolute", a6=2 * math.pi) and clipped("joint_absolute", a6=-6.3)


def test_every_action_is_looked_at_by_itself_and_every_robot_counts() -> None:
    actions = np.zeros((3, 14))
    actions[1, 6] = 255.0
    actions[2, 7] = 0.2
    assert beyond_reach(actions, contract(robots=2)).tolist() == [False, True, True]
    assert beyond_reach(np.zeros((0, 7)), contract()).tolist() == []


@pytest.mark.parametrize(
    ("returned", "line"),
    [
        (np.full((2, 7), 1e300), r"returned 1e\+300 in action 0, number 0; none may be above 1e\+06 in size"),
        (np.full((2, 7), np.inf), "returned inf in action 0, number 0; all must be finite"),
        (np.zeros(7), r"actions of shape \[7\]; ee_delta needs \[T, 7\]"),
    ],
)
def test_what_is_no_action_is_refused(returned: object, line: str) -> None:
    with pytest.raises(BadActions, match=line):
        checked_actions(returned, contract())


def test_a_gripper_at_255_is_an_action() -> None:
    assert checked_actions([[0, 0, 0, 0, 0, 0, 255]], contract())[0, 6] == 255
    assert checked_actions([], contract()).shape == (0, 7)
