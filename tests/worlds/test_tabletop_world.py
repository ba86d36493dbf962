"""Reset, step, replay: the same seed gives the same bits, and commands are reached."""

import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from heedful.spec.contract import ActionMode
from heedful.spec.errors import UserError
from heedful.spec.keypose import Keypose, chunk
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.spec.state import State, Trajectory
from heedful.worlds.tabletop import make
from heedful.worlds.tabletop.kinematics import arm, rotation_from_rpy, rpy_from_rotation
from heedful.worlds.tabletop.world import TabletopWorld

SHAPES = ("cube", "sphere", "cup", "car", "pyramid", "star")
COLORS = ("red", "yellow", "blue", "orange", "green", "black")
ALL = SceneSpec(tuple(ObjectSpec(s, s, c) for s, c in zip(SHAPES, COLORS, strict=True)))
ONE = SceneSpec((ObjectSpec("target", "cube", "red"),), yaw_range_rad=0.0)


@pytest.fixture(scope="module")
def world() -> TabletopWorld:
    return make()


def same(a: State, b: State) -> bool:
    return all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(State))


def grasp_and_lift(
    world: TabletopWorld, start: State, name: str = "target", grip_m: float = 0.022
) -> list[State]:
    """Hover, descend, close, lift, in ee_absolute; returns the states, the first included."""
    x, y, _ = start.object_positions_m[start.object_names.index(name)]
    states, at, yaw = [start], start.ee_position_m[0], 0.0
    for z, gripper, settle in ((0.12, 1.0, 3), (grip_m, 1.0, 3), (grip_m, 0.0, 5), (0.14, 0.0, 5)):
        for action in chunk(at, yaw, Keypose((x, y, z), 0.0, gripper), settle):
            states.append(world.step(action))
        at = np.array([x, y, z])
    return states


def test_the_same_seed_gives_the_same_bits_whatever_came_before() -> None:
    fresh, used = make(), make(cached_models=1)
    first = grasp_and_lift(fresh, fresh.reset(ONE, 5, "ee_absolute"))
    grasp_and_lift(used, used.reset(ALL, 1, "ee_absolute"), "star", 0.014)
    again = grasp_and_lift(used, used.reset(ONE, 5, "ee_absolute"))
    once_more = grasp_and_lift(used, used.reset(ONE, 5, "ee_absolute"))  # a cache hit, after contact
    assert all(same(a, b) and same(a, c) for a, b, c in zip(first, again, once_more, strict=True))


def test_another_process_gets_the_same_bits(world: TabletopWorld) -> None:
    code = (
        "from heedful.spec.scene import ObjectSpec, SceneSpec; from heedful.worlds.tabletop import make;"
        "w = make(); s = w.reset(SceneSpec((ObjectSpec('target', 'star', 'red'),)), 9, 'ee_absolute');"
        "s = w.step([0.5, 0.1, 0.2, 0, 0, 0.3, 0]);"
        "print(s.object_positions_m.tobytes().hex(), s.joints_rad.tobytes().hex())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    world.reset(SceneSpec((ObjectSpec("target", "star", "red"),)), 9, "ee_absolute")
    state = world.step(np.array([0.5, 0.1, 0.2, 0, 0, 0.3, 0]))
    assert done.stdout.split() == [state.object_positions_m.tobytes().hex(), state.joints_rad.tobytes().hex()]


def test_another_seed_gives_another_scene(world: TabletopWorld) -> None:
    a, b = (world.reset(ALL, seed, "ee_absolute").object_positions_m for seed in (1, 2))
    assert np.abs(a - b).max() > 0.02


def test_joint_replay_of_an_end_effector_demonstration_is_the_same_trajectory(world: TabletopWorld) -> None:
    seen = grasp_and_lift(world, world.reset(ONE, 7, "ee_absolute"))
    replayed = [world.reset(ONE, 7, "joint_absolute")]
    replayed += [world.step(state.command[0]) for state in seen[1:]]
    assert all(same(a, b) for a, b in zip(seen, replayed, strict=True))


def test_a_grasped_cube_is_lifted_and_both_fingers_touch_it(world: TabletopWorld) -> None:
    trajectory = Trajectory.stack(grasp_and_lift(world, world.reset(ONE, 3, "ee_absolute")))
    assert not trajectory.contacts[0].any()
    assert trajectory.contacts[-3:, 0, 0, :2].all()
    assert trajectory.object_positions_m[-1, 0, 2] - trajectory.object_positions_m[0, 0, 2] > 0.08
    assert 0.040 < trajectory.gripper_m[-1, 0] < 0.046  # the cube is 44 mm wide
    assert np.allclose(np.diff(trajectory.time_s), 0.05)


def test_commands_are_reached_within_a_millimetre(world: TabletopWorld) -> None:
    rng = np.random.default_rng(0)
    state = world.reset(ONE, 1, "ee_absolute")
    at, yaw = state.ee_position_m[0], 0.0
    for _ in range(6):
        x, y, z = rng.uniform((0.34, -0.2, 0.12), (0.64, 0.2, 0.34))
        goal = Keypose((x, y, z), float(rng.uniform(-1.2, 1.2)), 1.0)
        for action in chunk(at, yaw, goal, settle_steps=5):
            state = world.step(action)
        assert np.linalg.norm(state.ee_position_m[0] - goal.position_m) < 1e-3
        assert np.allclose(world.observe(()).proprioception[0, 3:6], (0, 0, goal.yaw_rad), atol=5e-3)
        at, yaw = np.array(goal.position_m), goal.yaw_rad


def test_deltas_add_to_the_commanded_pose(world: TabletopWorld) -> None:
    start = world.reset(ONE, 1, "ee_delta").ee_position_m[0]
    for _ in range(4):
        world.step(np.array([0.01, 0.02, -0.01, 0, 0, 0.1, 1]))
    for _ in range(12):
        state = world.step(np.array([0, 0, 0, 0, 0, 0, 0.0]))
    assert np.allclose(state.ee_position_m[0] - start, (0.04, 0.08, -0.04), atol=1e-3)
    assert world.observe(()).proprioception[0, 5] == pytest.approx(0.4, abs=5e-3)
    assert state.gripper_m[0] < 1e-3
    assert state.command[0, 7] == 0.0


def test_deltas_beyond_reach_do_not_wind_up(world: TabletopWorld) -> None:
    world.reset(ONE, 1, "ee_delta")
    for _ in range(40):
        far = world.step(np.array([0.03, 0, 0, 0, 0, 0, 1]))
    for _ in range(8):
        back = world.step(np.array([-0.03, 0, 0, 0, 0, 0, 1]))
    assert far.ee_position_m[0, 0] - back.ee_position_m[0, 0] > 0.15


@pytest.mark.parametrize(
    ("mode", "action"),
    [("ee_delta", np.zeros(8)), ("joint_absolute", np.zeros(7)), ("ee_absolute", np.full(7, np.nan))],
)
def test_a_bad_action_is_refused(world: TabletopWorld, mode: ActionMode, action: np.ndarray) -> None:
    world.reset(ONE, 1, mode)
    with pytest.raises(ValueError, match="action|takes"):
        world.step(action)


def test_an_unstable_simulation_stops_the_episode(
    world: TabletopWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo logs its warning into the working directory
    state = world.reset(ONE, 1, "joint_absolute")
    world.step(state.command[0])
    world._loaded().data.qvel[:] = 1e12
    with pytest.raises(RuntimeError, match="unstable in control step 1"):
        world.step(state.command[0])
    assert same(world.reset(ONE, 1, "joint_absolute"), state)


def test_stepping_needs_a_reset() -> None:
    with pytest.raises(RuntimeError, match="reset"):
        make().step(np.zeros(8))


def test_two_robots_and_unknown_modes_are_refused(world: TabletopWorld) -> None:
    with pytest.raises(UserError, match="one robot"):
        make(robots=2)
    with pytest.raises(UserError, match="Did you mean 'robots'"):
        make(robot=2)
    with pytest.raises(UserError, match="one robot"):
        world.reset(replace(ONE, robots=2), 0, "ee_absolute")
    with pytest.raises(UserError, match="Did you mean 'ee_delta'"):
        world.reset(ONE, 0, "ee_delt")  # type: ignore[arg-type]


def test_roll_pitch_yaw_go_both_ways() -> None:
    rng = np.random.default_rng(0)
    for rpy in rng.uniform(-1.4, 1.4, (20, 3)):
        assert np.allclose(rpy_from_rotation(rotation_from_rpy(rpy)), rpy)
    assert np.allclose(rotation_from_rpy(np.zeros(3))[:, 2], (0, 0, -1))  # the tool's z points down


def test_inverse_kinematics_inverts_forward_kinematics() -> None:
    kinematics, rng = arm(), np.random.default_rng(1)
    home = kinematics.home()
    for _ in range(20):
        position, rotation = kinematics.forward(home + rng.uniform(-0.2, 0.2, 7))
        joints, remaining = kinematics.inverse(home, position, rotation, iterations=30)
        assert remaining < 2e-5
        assert np.allclose(kinematics.forward(joints)[0], position, atol=2e-5)
