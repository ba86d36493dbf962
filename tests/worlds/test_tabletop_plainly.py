"""Speed must not change what comes out: the world beside the same arithmetic written plainly."""

import mujoco
import numpy as np
import pytest

from heedful.spec.contract import ActionMode
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.worlds.tabletop import make
from heedful.worlds.tabletop.kinematics import Kinematics, rotation_from_rpy
from heedful.worlds.tabletop.robot import POSTURE_RAD
from heedful.worlds.tabletop.world import LOOKS, SUBSTEPS

SCENE = SceneSpec((ObjectSpec("a", "cube", "red"), ObjectSpec("b", "cup", "blue")))


def plain_inverse(
    arm: Kinematics, start: np.ndarray, position: np.ndarray, rotation: np.ndarray
) -> np.ndarray:
    """Return the angles as the docstring of ``Kinematics.inverse`` has them."""
    q = np.array(start)
    jacobian = np.zeros((6, arm._model.nv))
    for iteration in range(13):
        at, turned = arm.forward(q)
        quaternion, vector = np.zeros(4), np.zeros(3)
        mujoco.mju_mat2Quat(quaternion, (rotation @ turned.T).ravel())
        mujoco.mju_quat2Vel(vector, quaternion, 1.0)
        error = np.concatenate([position - at, vector])
        if np.sqrt(error[:3] @ error[:3]) + np.sqrt(error[3:] @ error[3:]) < 2e-5 or iteration == 12:
            break
        mujoco.mj_comPos(arm._model, arm._data)
        mujoco.mj_jacSite(arm._model, arm._data, jacobian[:3], jacobian[3:], arm._tool)
        j = jacobian[:, :7]
        squared = j @ j.T + 1e-4 * np.eye(6)
        pull = 0.1 * (POSTURE_RAD - q) if iteration == 0 else np.zeros(7)
        if iteration == 0:
            step = pull + j.T @ np.linalg.solve(squared, error - j @ pull)
        else:
            step = j.T @ np.linalg.solve(squared, error)
        q = np.clip(q + np.clip(step, -0.3, 0.3), arm.low_rad, arm.high_rad)
    return q


def test_inverse_kinematics_is_the_plain_formula() -> None:
    arm, rng = Kinematics(), np.random.default_rng(0)
    q = arm.home()
    for i in range(200):
        reach = 0.03 if i < 150 else 0.6  # the last ones are out of reach
        position = arm.forward(q)[0] + rng.normal(0, reach, 3)
        rotation = rotation_from_rpy(rng.normal(0, 0.1, 3))
        found, _ = arm.inverse(q, position, rotation)
        assert np.allclose(found, plain_inverse(arm, q, position, rotation), rtol=0, atol=1e-9)
        assert np.array_equal(found, Kinematics().inverse(q, position, rotation)[0])  # whatever came before
        q = found if i < 150 else arm.home()


@pytest.mark.parametrize("mode", ["ee_absolute", "ee_delta", "joint_absolute"])
def test_a_step_is_five_plain_looks_bit_for_bit(mode: ActionMode) -> None:
    world, rng = make(), np.random.default_rng(1)
    state = world.reset(SCENE, 3, mode)
    table = world._loaded()
    twin = mujoco.MjData(table.model)
    mujoco.mj_copyData(twin, table.model, table.data)
    command = world.state().command[0]
    x, y, _ = state.object_positions_m[0]
    touched_ever = False
    for step in range(60):
        if mode == "ee_absolute":  # into the cube from above, then closing on it
            action = np.array([x, y, max(0.34 - 0.01 * step, 0.02), 0, 0, 0, float(step < 45)])
        elif mode == "ee_delta":
            action = np.array([*rng.normal(0, 0.02, 2), -0.006, *rng.normal(0, 0.03, 3), rng.random()])
        else:
            action = command + rng.normal(0, 0.02, 8)
        state = world.step(action)
        contacts = np.zeros(state.contacts.size + 1, dtype=np.bool_)
        for look in range(1, LOOKS + 1):
            twin.ctrl[table.servo_ctrl] = command + (look / LOOKS) * (state.command[0] - command)
            mujoco.mj_step(table.model, twin, SUBSTEPS)
            pairs = twin.contact.geom
            contacts[table.contact_slot[pairs[:, 0], pairs[:, 1]]] = True
        command = state.command[0]
        assert np.array_equal(twin.qpos, table.data.qpos)
        assert np.array_equal(contacts[:-1].reshape(state.contacts.shape), state.contacts)
        touched_ever |= bool(contacts[:-1].any())
    assert touched_ever or mode != "ee_absolute"
