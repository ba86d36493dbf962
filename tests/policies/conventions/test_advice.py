"""Answers with one convention misunderstood each, and the option that mends it."""

from dataclasses import replace

import numpy as np
import pytest

from heedful.policies.conventions.advice import Advice, advice
from heedful.policies.conventions.model import Conventions
from heedful.policies.conventions.presets import PRESETS
from heedful.spec.contract import Observation

LIBERO = PRESETS["openpi-libero"].conventions
DROID = PRESETS["openpi-droid"].conventions
ABSOLUTE = replace(LIBERO, action="ee_absolute", rotation="rpy", scale_m=1.0, scale_rad=1.0)
JOINTS = replace(DROID, action="joint_absolute", scale_rad=1.0)


def options(conventions: Conventions, actions: np.ndarray, seen: Observation) -> list[str]:
    return [one.option for one in advice(conventions, actions, seen)]


def deltas(scale: float = 1.0, gripper: float = -1.0) -> np.ndarray:
    actions = np.zeros((10, 7))
    actions[:, :3] = np.array([0.6, -0.2, -0.4]) * scale
    actions[:, 6] = gripper
    return actions


def poses(seen: Observation, gripper: float = -1.0) -> np.ndarray:
    actions = np.tile(np.append(seen.proprioception[0, :6], gripper), (10, 1))
    actions[:, 2] -= 0.02
    return actions


def test_a_good_answer_gets_no_advice(observation: Observation) -> None:
    assert advice(LIBERO, deltas(), observation) == []
    assert advice(ABSOLUTE, poses(observation), observation) == []
    velocities = np.zeros((10, 8))
    assert advice(DROID, velocities, observation) == []
    joints = np.tile(np.append(observation.joint_state[0, :7], 0), (10, 1))
    assert advice(JOINTS, joints, observation) == []


@pytest.mark.parametrize(
    ("width", "option"), [(8, "action=joint_absolute or joint_delta"), (32, ""), (6, "")]
)
def test_another_width(width: int, option: str, observation: Observation) -> None:
    (found,) = advice(LIBERO, np.zeros((10, width)), observation)
    assert found.certain and found.option == option and f"holds {width} numbers" in found.line
    (found,) = advice(DROID, np.zeros((10, 7)), observation)
    assert found.option == "action=ee_delta or ee_absolute"


def test_changes_where_goals_were_declared_and_the_other_way_round(observation: Observation) -> None:
    assert options(ABSOLUTE, deltas(0.05), observation) == ["action=ee_delta"]
    assert options(ABSOLUTE, deltas(), observation) == ["action=ee_delta&scale_m=0.05"]
    metres = replace(LIBERO, scale_m=1.0, scale_rad=1.0)
    assert options(metres, poses(observation), observation) == ["action=ee_absolute&scale_m=1"]
    joints = np.tile(np.append(observation.joint_state[0, :7], 0), (10, 1))
    assert options(replace(DROID, scale_rad=1.0), joints, observation) == ["action=joint_absolute"]
    assert options(JOINTS, np.zeros((10, 8)), observation) == ["action=joint_delta"]


def test_another_scale(observation: Observation) -> None:
    metres = replace(LIBERO, scale_m=1.0, scale_rad=1.0)
    assert options(metres, deltas(), observation) == ["scale_m=0.05&scale_rad=0.5"]
    assert options(LIBERO, deltas(0.02), observation) == ["scale_m=1&scale_rad=1"]
    assert options(LIBERO, deltas(500), observation) == ["scale_m=..."]


def test_another_gripper(observation: Observation) -> None:
    assert options(LIBERO, deltas(gripper=1.0), observation) == ["gripper=close_negative"]
    (found,) = advice(replace(LIBERO, gripper="close_one"), deltas(gripper=-1.0), observation)
    assert found.option == "gripper=close_positive or close_negative" and found.certain
    assert "from -1.00 to -1.00; close_one has 0 to 1" in found.line
    (found,) = advice(LIBERO, deltas(gripper=-255.0), observation)
    assert "no openings at all" in found.line
    observation.joint_state[0, 7] = 0.0  # holding something: closing says nothing
    assert options(LIBERO, deltas(gripper=1.0), observation) == []


def test_another_chunk(observation: Observation) -> None:
    assert options(replace(LIBERO, chunk=50), deltas(), observation) == ["chunk=10"]
    assert options(replace(LIBERO, replan=25), deltas(), observation) == ["replan=10"]


def test_nothing_and_not_finite(observation: Observation) -> None:
    assert advice(LIBERO, np.zeros((0, 7)), observation)[0].certain
    nan = deltas()
    nan[0, 0] = np.nan
    assert advice(LIBERO, nan, observation) == [
        Advice("The actions hold numbers that are not finite (nan or inf).", "", True)
    ]
