import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.spec.manipulation import RULES, read, verb_executed, yaw_change_rad
from heedful.spec.state import Trajectory


def trajectory(
    path_m: np.ndarray, contact_from: dict[str, int], yaw: np.ndarray | None = None, held: bool = True
) -> Trajectory:
    """Two objects, a and b; ``a`` follows path_m [T, 3] and yaw [T], b follows it too if touched."""
    steps = len(path_m)
    names = ("a", "b")
    positions = np.zeros((steps, 2, 3))
    quaternions = np.zeros((steps, 2, 4))
    quaternions[..., 0] = 1
    contacts = np.zeros((steps, 1, 2, 3), dtype=bool)
    for i, name in enumerate(names):
        positions[:, i, 1] = i
        if name in contact_from:
            positions[:, i] += path_m
            if yaw is not None:
                quaternions[:, i, 0], quaternions[:, i, 3] = np.cos(yaw / 2), np.sin(yaw / 2)
            contacts[contact_from[name] :, 0, i, : 2 if held else 1] = True
    zeros = np.zeros((steps, 1, 3))
    return Trajectory(
        time_s=np.arange(steps) / 20,
        joints_rad=np.zeros((steps, 1, 7)),
        ee_position_m=zeros,
        ee_quaternion=np.zeros((steps, 1, 4)),
        gripper_m=np.zeros((steps, 1)),
        command=np.zeros((steps, 1, 8)),
        object_names=names,
        object_positions_m=positions,
        object_quaternions=quaternions,
        contacts=contacts,
    )


def ramp(*end_m: float) -> np.ndarray:
    return np.linspace(0, 1, 10)[:, None] * np.array(end_m)


@pytest.mark.parametrize(
    ("end_m", "verb"),
    [
        ((0, 0, 0.1), "lift"),
        ((0.08, 0.01, 0), "push"),
        ((-0.08, 0.01, 0), "pull"),
        ((0.02, 0.08, 0), "slide"),
        ((0.02, -0.08, 0), "slide"),
        ((0.005, 0, 0), "grasp"),
    ],
)
def test_the_displacement_names_the_verb(end_m: tuple[float, float, float], verb: str) -> None:
    done = read(trajectory(ramp(*end_m), {"a": 2}))
    assert (done.object, done.verb) == ("a", verb)


def test_a_turn_in_place_is_a_rotation() -> None:
    done = read(trajectory(ramp(0, 0, 0), {"a": 2}, yaw=np.linspace(0, 1, 10)))
    assert done.verb == "rotate"
    assert done.turned_rad == pytest.approx(1)


def test_the_object_touched_first_counts_even_when_another_moved_further() -> None:
    assert read(trajectory(ramp(0.05, 0, 0), {"b": 2, "a": 5})).object == "b"


def test_a_brush_is_no_manipulation() -> None:
    assert read(trajectory(ramp(0.004, 0, 0), {"a": 2}, held=False)).object is None


def test_a_touch_without_a_grip_or_a_move_has_no_verb() -> None:
    done = read(trajectory(ramp(0.02, 0, 0), {"a": 2}, held=False))
    assert (done.object, done.verb) == ("a", None)


def test_nothing_touched_is_nothing_done() -> None:
    assert read(trajectory(ramp(0, 0, 0), {})).object is None


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_yaw_change_adds_up_turns_beyond_half_a_circle(steps: list[float]) -> None:
    yaw = np.cumsum(steps)
    quaternions = np.stack([np.cos(yaw / 2), 0 * yaw, 0 * yaw, np.sin(yaw / 2)], axis=1)
    assert yaw_change_rad(quaternions)[-1] == pytest.approx(yaw[-1] - yaw[0], abs=1e-9)


@given(st.floats(-0.3, 0.3), st.floats(-0.3, 0.3))
def test_every_planar_move_is_exactly_one_of_three_verbs(dx: float, dy: float) -> None:
    verb = verb_executed(np.array([dx, dy, 0.0]), 0.0, held=False)
    assert (verb in {"push", "pull", "slide"}) == (np.hypot(dx, dy) >= RULES.move_m)
