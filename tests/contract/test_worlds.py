"""What every registered world owes: shapes, one picture for one seed, looking apart from stepping."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from heedful.spec.case import Case
from heedful.spec.contract import ActionMode, CameraContract
from heedful.spec.plugins import load, registered
from heedful.spec.seams import World
from heedful.spec.state import State, Trajectory

WIDTH: dict[ActionMode, int] = {"joint_absolute": 8, "ee_delta": 7, "ee_absolute": 7}


@pytest.fixture(scope="module", params=sorted(registered("heedful.worlds")))
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    made: World = load("heedful.worlds", request.param)()
    yield made
    made.close()


def resting(state: State, mode: ActionMode, robots: int) -> np.ndarray:
    """Return an action that is valid in ``mode`` and asks for little motion."""
    if mode == "joint_absolute":
        return state.command.reshape(-1).copy()
    action = np.zeros((robots, WIDTH[mode]))
    if mode == "ee_absolute":
        action[:, :3] = state.ee_position_m
    action[:, -1] = 1.0
    return action.reshape(-1)


def arrays(state: State) -> dict[str, np.ndarray]:
    return {name: np.asarray(value) for name, value in vars(state).items()}


def test_the_contract_offers_something(world: World) -> None:
    assert world.contract.cameras
    assert world.contract.action_modes
    assert world.contract.control_hz > 0
    assert set(world.contract.calibration) <= set(world.contract.cameras)


def test_states_have_the_promised_shapes_in_every_action_mode(world: World, case: Case) -> None:
    robots, things = world.contract.robots, len(case.scene.objects)
    for mode in world.contract.action_modes:
        first = world.reset(case.scene, 3, mode)
        second = world.step(resting(first, mode, robots))
        assert second.time_s == pytest.approx(first.time_s + 1 / world.contract.control_hz)
        for state in (first, second):
            assert state.object_names == tuple(thing.name for thing in case.scene.objects)
            assert state.joints_rad.shape == (robots, 7)
            assert state.ee_position_m.shape == (robots, 3)
            assert state.command.shape == (robots, 8)
            assert state.object_positions_m.shape == (things, 3)
            assert state.object_quaternions.shape == (things, 4)
            assert state.contacts.shape == (robots, things, 3)
            assert np.allclose(np.linalg.norm(state.object_quaternions, axis=1), 1)
        assert len(Trajectory.stack([first, second])) == 2


def test_looking_gives_the_pictures_asked_for_and_hides_the_state(world: World, case: Case) -> None:
    world.reset(case.scene, 3, world.contract.action_modes[0])
    cameras = [CameraContract(name, 48, 64) for name in world.contract.cameras]
    seen = world.observe(cameras)
    assert set(seen.images_hwc_u8) == set(world.contract.cameras)
    for image in seen.images_hwc_u8.values():
        assert image.shape == (48, 64, 3)
        assert image.dtype == np.uint8
        assert image.min() < image.max()
    assert seen.proprioception.shape == seen.joint_state.shape == (world.contract.robots, 8)
    assert seen.state is None
    assert world.observe([], privileged=True).state is not None


def test_a_recorded_state_is_shown_as_it_was_seen_live(world: World, case: Case) -> None:
    mode, robots = world.contract.action_modes[0], world.contract.robots
    cameras = [CameraContract(name, 48, 64) for name in world.contract.cameras]
    state = world.reset(case.scene, 3, mode)
    recorded, live = [state], [world.observe(cameras)]
    for _ in range(3):
        state = world.step(resting(state, mode, robots))
        recorded.append(state)
        live.append(world.observe(cameras))
    world.reset(case.scene, 4, mode)
    elsewhere = world.observe(cameras)
    for then, seen in zip(recorded, live, strict=True):
        world.show(case.scene, then)
        now = world.observe(cameras, privileged=True)
        for camera in cameras:
            assert np.array_equal(now.images_hwc_u8[camera.name], seen.images_hwc_u8[camera.name])
        assert np.allclose(now.proprioception, seen.proprioception, atol=1e-3)
        assert np.allclose(now.joint_state, seen.joint_state, atol=1e-3)
        assert now.state is not None and now.state.time_s == then.time_s
    assert any(
        not np.array_equal(elsewhere.images_hwc_u8[c.name], live[0].images_hwc_u8[c.name]) for c in cameras
    )
    again = arrays(world.reset(case.scene, 3, mode))  # showing leaves nothing behind
    for name, value in arrays(recorded[0]).items():
        assert np.array_equal(again[name], value), name


def test_one_seed_gives_one_scene_to_the_bit_whatever_ran_before(world: World, case: Case) -> None:
    mode = world.contract.action_modes[0]
    camera = CameraContract(world.contract.cameras[0], 64, 64)

    def play(seed: int, look: bool) -> tuple[list[dict[str, np.ndarray]], np.ndarray | None]:
        state = world.reset(case.scene, seed, mode)
        picture = world.observe([camera]).images_hwc_u8[camera.name] if look else None
        states = [arrays(state)]
        for _ in range(5):
            states.append(arrays(world.step(resting(state, mode, world.contract.robots))))
        return states, picture

    first, picture = play(11, look=True)
    other, _ = play(12, look=True)
    again, same_picture = play(11, look=True)
    blind, _ = play(11, look=False)
    assert np.array_equal(np.asarray(picture), np.asarray(same_picture))
    for a, b, c in zip(first, again, blind, strict=True):
        for name in a:
            assert np.array_equal(a[name], b[name]), name
            assert np.array_equal(a[name], c[name]), f"{name}: looking changed the physics"
    assert not np.array_equal(first[0]["object_positions_m"], other[0]["object_positions_m"])
