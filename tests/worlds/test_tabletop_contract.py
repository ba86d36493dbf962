"""What every registered world must do; run over all of them."""

import numpy as np
import pytest

from heedful.spec import plugins
from heedful.spec.contract import CameraContract, PolicyContract, mismatches
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.spec.state import CONTACT_PARTS, Trajectory

SCENE = SceneSpec((ObjectSpec("a", "cube", "red"), ObjectSpec("b", "sphere", "blue")))


@pytest.mark.parametrize("name", sorted(plugins.registered("heedful.worlds")))
def test_a_registered_world_keeps_the_seam(name: str) -> None:
    world = plugins.load("heedful.worlds", name)()
    contract = world.contract
    assert set(contract.calibration) <= set(contract.cameras)
    for camera in contract.calibration.values():
        rotation = np.array(camera.rotation)
        assert np.allclose(rotation @ rotation.T, np.eye(3)) and np.linalg.det(rotation) == pytest.approx(1)
    for mode in contract.action_modes:
        needs = PolicyContract((), mode, contract.control_hz)
        assert mismatches(contract, needs) == []
        width = 8 if mode == "joint_absolute" else 7
        states = [world.reset(SCENE, 4, mode)]
        held = states[0].command[0]
        pose = world.observe(()).proprioception[0, :6]
        action = {"joint_absolute": held, "ee_absolute": np.append(pose, 1.0), "ee_delta": np.eye(7)[6]}[mode]
        assert action.shape == (width,)
        states += [world.step(action) for _ in range(4)]
        trajectory = Trajectory.stack(states)
        assert trajectory.object_names == ("a", "b")
        assert trajectory.joints_rad.shape == (5, 1, 7) and trajectory.command.shape == (5, 1, 8)
        assert trajectory.contacts.shape == (5, 1, 2, len(CONTACT_PARTS)) and not trajectory.contacts.any()
        assert np.abs(trajectory.ee_position_m - trajectory.ee_position_m[0]).max() < 1e-3  # told to stay
        assert np.allclose(np.diff(trajectory.time_s), 1 / contract.control_hz)
        assert np.abs(trajectory.object_positions_m - trajectory.object_positions_m[0]).max() < 1e-3
    request = [CameraContract(camera, 48, 64) for camera in contract.cameras]
    seen = world.observe(request, privileged=True)
    assert set(seen.images_hwc_u8) == set(contract.cameras) and seen.step == 4
    for image in seen.images_hwc_u8.values():
        assert image.shape == (48, 64, 3) and image.dtype == np.uint8 and image.std() > 5
    assert seen.state is not None and seen.state.object_names == ("a", "b")
    assert seen.proprioception.shape == (1, 8) and seen.joint_state.shape == (1, 8)
    assert world.observe(()).state is None and world.observe(()).images_hwc_u8 == {}
    world.close()
