"""Known answers: what LIBERO, DROID and our own server are sent, and what their actions do."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.policies.conventions.conversion import (
    flipped,
    observation_of,
    wire_images,
    wire_state,
    world_actions,
)
from heedful.policies.conventions.model import Conventions
from heedful.policies.conventions.presets import PRESETS
from heedful.policies.remote.announcement import conventions_for
from heedful.spec.contract import CameraContract, Observation, PolicyContract
from heedful.worlds.tabletop.kinematics import rotation_from_rpy

LIBERO = PRESETS["openpi-libero"].conventions
DROID = PRESETS["openpi-droid"].conventions
RPY = np.array([0.01, -0.02, 0.3])


def matrix(turn: np.ndarray) -> np.ndarray:
    """Return the rotation by |turn| about turn (Rodrigues)."""
    angle = np.linalg.norm(turn)
    x, y, z = turn / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def test_libero_is_sent_its_keys_its_state_and_224_pixels(observation: Observation) -> None:
    images, state = wire_images(LIBERO, observation), wire_state(LIBERO, observation)
    assert set(images) == {"observation/image", "observation/wrist_image"}
    assert {image.shape for image in images.values()} == {(224, 224, 3)}
    vector = state["observation/state"]
    assert np.allclose(vector[:3], [0.4, 0.05, 0.3])
    assert np.allclose(matrix(vector[3:6]), rotation_from_rpy(RPY))
    assert np.allclose(vector[6:], [0.04, -0.039])


def test_a_tool_that_points_down_has_an_axis_angle_near_plus_pi_about_x(observation: Observation) -> None:
    for tilt in (-0.05, 0.0, 0.05):
        observation.proprioception[0, 3:6] = [tilt, 0, 0]
        turn = wire_state(LIBERO, observation)["observation/state"][3:6]
        assert turn == pytest.approx([np.pi + tilt, 0, 0], abs=1e-9)


def test_the_other_ways_to_say_the_tools_rotation(observation: Observation) -> None:
    pieces = {"short": ("ee_axis_angle_short",), "euler": ("ee_euler",), "quaternion": ("ee_quaternion",)}
    conventions = replace(LIBERO, state=pieces)
    for tilt in (-0.05, 0.05):
        observation.proprioception[0, 3:6] = [tilt, 0, 0]
        state = wire_state(conventions, observation)
        short = tilt + np.pi if tilt < 0 else tilt - np.pi  # robosuite says pi + tilt for both
        assert state["short"] == pytest.approx([short, 0, 0], abs=1e-9)
    observation.proprioception[0, 3:6] = RPY
    x, y, z, w = wire_state(conventions, observation)["quaternion"]
    half = np.arccos(w)
    assert np.allclose(matrix(np.array([x, y, z]) / np.sin(half) * 2 * half), rotation_from_rpy(RPY))
    roll, pitch, yaw = wire_state(conventions, observation)["euler"] * np.eye(3)
    assert np.allclose(matrix(yaw) @ matrix(pitch) @ matrix(roll), rotation_from_rpy(RPY))


def test_droid_is_sent_joints_and_how_far_the_gripper_is_closed(observation: Observation) -> None:
    state = wire_state(DROID, observation)
    assert np.array_equal(state["observation/joint_position"], observation.joint_state[0, :7])
    assert state["observation/gripper_position"] == pytest.approx([1 - 0.079 / 0.08])


@pytest.mark.parametrize(
    ("flip", "corner"), [("none", (0, 0)), ("vertical", (-1, 0)), ("horizontal", (0, -1)), ("both", (-1, -1))]
)
def test_a_flip_brings_that_corner_to_the_top_left(flip: str, corner: tuple[int, int]) -> None:
    image = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    turned = flipped(image, flip)
    assert np.array_equal(turned[0, 0], image[corner])
    assert np.array_equal(flipped(turned, flip), image)
    assert turned.flags.c_contiguous


def test_libero_actions_are_scaled_turned_and_their_gripper_reversed(observation: Observation) -> None:
    action = np.array([[1.0, -0.5, 0.0, 0.1, -0.2, 0.3, -0.8], [0, 0, 0, 0.3, 0.1, -0.2, 0.7]])
    found = world_actions(LIBERO, action, observation)
    assert np.allclose(found[:, :3], action[:, :3] * 0.05)
    assert found[:, 6].tolist() == [1.0, 0.0]
    rpy, turned = RPY, rotation_from_rpy(RPY)
    for one, asked in zip(found, action, strict=True):
        rpy, turned = rpy + one[3:6], matrix(asked[3:6] * 0.5) @ turned
        assert np.allclose(rotation_from_rpy(rpy), turned)


def test_changes_are_limited_as_the_robots_controllers_limit_them(observation: Observation) -> None:
    found = world_actions(LIBERO, np.array([[3.0, -2.0, 0.5, 0, 0, 0, -7.0]]), observation)
    assert np.allclose(found[0, :3], [0.05, -0.05, 0.025]) and found[0, 6] == 1
    found = world_actions(DROID, np.array([[1.5, *[0.0] * 6, 1.0]]), observation)
    assert found[0, 0] == pytest.approx(observation.joint_state[0, 0] + 0.2)
    goal = np.array([[2.0, *[0.0] * 6, 1.0]])
    absolute = replace(DROID, action="joint_absolute", scale_rad=1.0)
    assert world_actions(absolute, goal, observation)[0, 0] == 2.0  # angles are no changes


def test_droid_velocities_become_joint_goals_that_start_where_the_arm_is(observation: Observation) -> None:
    action = np.zeros((3, 8))
    action[:, 2], action[:, 7] = 0.5, [0.2, 0.4, 0.9]
    found = world_actions(DROID, action, observation)
    assert np.allclose(found[:, 2], observation.joint_state[0, 2] + [0.1, 0.2, 0.3])
    assert np.allclose(found[:, [0, 1, 3, 4, 5, 6]], observation.joint_state[0, [0, 1, 3, 4, 5, 6]])
    assert found[:, 7].tolist() == [1, 1, 0]


def test_absolute_axis_angles_are_the_same_tool_rotation(observation: Observation) -> None:
    conventions = replace(LIBERO, action="ee_absolute", scale_m=1.0, scale_rad=1.0)
    turn = wire_state(LIBERO, observation)["observation/state"][3:6]
    found = world_actions(conventions, np.array([[0.4, 0, 0.2, *turn, -1]]), observation)
    assert np.allclose(found[0], [0.4, 0, 0.2, *RPY, 1])


@pytest.mark.parametrize(
    ("gripper", "wire", "world"),
    [
        ("close_positive", [-1, 0, 1], [1, 0.5, 0]),
        ("close_negative", [-1, 0, 1], [0, 0.5, 1]),
        ("close_one", [0, 0.25, 1], [1, 0.75, 0]),
        ("open_one", [0, 0.25, 1], [0, 0.25, 1]),
    ],
)
def test_every_gripper_convention(
    gripper: str, wire: list[float], world: list[float], observation: Observation
) -> None:
    actions = np.zeros((3, 7))
    actions[:, 6] = wire
    conventions = replace(LIBERO, gripper=gripper, gripper_binary=False)
    assert np.allclose(world_actions(conventions, actions, observation)[:, 6], world)


def ours(action: str = "ee_absolute") -> Conventions:
    contract = PolicyContract((CameraContract("agent", 224, 224),), action, 20.0)
    return conventions_for(contract, "openpi")


@given(st.lists(st.floats(-10, 10), min_size=7, max_size=7))
def test_our_own_actions_come_back_bit_for_bit(numbers: list[float]) -> None:
    actions = np.array([numbers])
    seen = Observation({}, np.zeros((1, 8)), np.zeros((1, 8)), 0)
    for action in ("ee_absolute", "ee_delta"):
        assert np.array_equal(world_actions(ours(action), actions, seen), actions)


def test_our_own_observation_comes_back_bit_for_bit(observation: Observation) -> None:
    conventions = replace(ours(), flip="both")
    images, state = wire_images(conventions, observation), wire_state(conventions, observation)
    back = observation_of(conventions, images, state, 5)
    assert np.array_equal(back.images_hwc_u8["agent"], observation.images_hwc_u8["agent"])
    assert np.array_equal(back.proprioception, observation.proprioception)
    assert np.array_equal(back.joint_state, observation.joint_state)
    assert back.step == 5


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"observation/agent": None}, "observation/agent is missing; found observation/state"),
        ({"observation/agent": np.zeros((224, 224, 3))}, r"is float64 \[224, 224, 3\]; uint8"),
        ({"observation/agent": np.zeros((96, 96, 3), np.uint8)}, r"uint8 \[224, 224, 3\] is needed"),
        ({"observation/agent": "picture"}, "is a str, not an array"),
        ({"observation/state": np.zeros(8)}, "16 finite numbers are needed"),
        ({"observation/state": np.full(16, np.nan)}, "16 finite numbers are needed"),
        ({"observation/state": [[1], [1, 2]]}, "lists of different lengths"),
    ],
)
def test_an_observation_that_is_none_is_refused(
    changes: dict[str, object], said: str, observation: Observation
) -> None:
    sent = {**wire_images(ours(), observation), **wire_state(ours(), observation), **changes}
    sent = {key: value for key, value in sent.items() if value is not None}
    with pytest.raises(ValueError, match=said):
        observation_of(ours(), sent, sent, 0)
