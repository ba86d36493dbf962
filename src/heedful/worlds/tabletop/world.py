"""The running tabletop world: reset, step, look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from heedful.spec.contract import ActionMode, CameraContract, Observation, WorldContract
from heedful.spec.errors import UserError, unknown
from heedful.spec.scene import SceneSpec
from heedful.spec.state import CONTACT_PARTS, State
from heedful.worlds.tabletop import catalog
from heedful.worlds.tabletop.build import ModelCache, SceneKey, TableModel
from heedful.worlds.tabletop.cameras import CALIBRATION
from heedful.worlds.tabletop.control import Controller
from heedful.worlds.tabletop.kinematics import F64, arm, rpy_from_rotation
from heedful.worlds.tabletop.placement import Place, check_scene, sample_places

CONTROL_HZ = 20.0
LOOKS = 5
"""Contacts are read this often in a control step, and the servo targets move in as many parts."""

_PARTS = np.arange(1, LOOKS + 1)[:, None] / LOOKS

SUBSTEPS = 5
"""Physics steps of 2 ms between two looks; 25 in a control step."""

_SETTLE_STEPS = 100
_SETTLE_MOVED_M = 0.003
_SETTLE_TILT = 0.9995  # cosine of 1.8 degrees
_SETTLE_SPEED = 0.02  # m/s and rad/s, every component
_PLACEMENTS = 20


class TabletopWorld:
    """One Panda at a table (``spec.seams.World``).

    Rendering happens only in ``observe`` and needs OpenGL only there. What a camera shows
    is a function of the State alone, so pictures made later from recorded states
    (``show``) equal those seen live.
    """

    def __init__(self, cached_models: int = 16) -> None:
        self._cache = ModelCache(cached_models)
        self._arm = arm()
        self._home = self._arm.home()
        self._scene: SceneSpec | None = None
        self._names: tuple[str, ...] = ()
        self._key: SceneKey = ()
        self._table: TableModel | None = None
        self._controller: Controller | None = None
        self._contacts = np.zeros((1, 0, len(CONTACT_PARTS)), dtype=np.bool_)
        self._steps = 0
        self._shown: State | None = None

    @property
    def contract(self) -> WorldContract:
        """What this world offers."""
        return WorldContract(
            cameras=tuple(CALIBRATION),
            action_modes=("joint_absolute", "ee_delta", "ee_absolute"),
            control_hz=CONTROL_HZ,
            robots=1,
            calibration=CALIBRATION,
        )

    def reset(
        self,
        scene: SceneSpec,
        seed: int | np.random.SeedSequence,
        action_mode: ActionMode = "joint_absolute",
    ) -> State:
        """Place ``scene`` under ``seed``, let it settle, and return the first state.

        Nothing of earlier episodes remains: equal scene and seed give equal bits.

        Raises:
            UserError: The scene names something unknown or cannot be placed.
        """
        controller = Controller(self._arm, action_mode, self._home)
        table = self._load(scene)
        rng = np.random.default_rng(seed)
        for _ in range(_PLACEMENTS):
            places = sample_places(scene, rng)
            if self._settle(table, places):
                break
        else:
            raise UserError(
                f"The scene {[f'{o.color} {o.shape}' for o in scene.objects]} does not come to rest "
                f"in {_PLACEMENTS} placements."
            )
        self._controller, self._steps = controller, 0
        table.data.time = 0.0
        self._contacts = np.zeros((1, len(scene.objects), len(CONTACT_PARTS)), dtype=np.bool_)
        return self.state()

    def step(self, action: NDArray[np.float64]) -> State:
        """Execute one control step of 50 ms and return the state after it.

        The servo targets move in a straight line (in joint space) from the last command to
        the new one, so that the arm does not jerk. A contact counts when it is there at one
        of the five looks, 10 ms apart, of the control step.

        Args:
            action: As the episode's action mode says; see ``spec.contract.ActionMode``.

        Raises:
            ValueError: The action has the wrong length or is not finite.
            RuntimeError: There was no reset, or the simulation became unstable.
        """
        table, controller = self._running()
        before, after = controller.advance(action)
        model, data = table.model, table.data
        touched = np.zeros(self._contacts.size + 1, dtype=np.bool_)
        control, servos, slots, seen = data.ctrl, table.servo_ctrl, table.contact_slot, b""
        for target in before + _PARTS * (after - before):
            control[servos] = target
            mujoco.mj_step(model, data, SUBSTEPS)
            pairs = data.contact.geom
            if (now := pairs.tobytes()) != seen:  # most looks find the contacts of the one before
                touched[slots[pairs[:, 0], pairs[:, 1]]] = True
                seen = now
        if data.time < (self._steps + 0.5) / CONTROL_HZ:  # MuJoCo resets itself when its numbers overflow
            raise RuntimeError(f"the simulation became unstable in control step {self._steps}")
        # mj_step leaves positions of bodies and sites one substep behind the joints.
        mujoco.mj_kinematics(model, data)
        self._contacts = touched[:-1].reshape(self._contacts.shape)
        self._steps += 1
        return self.state()

    def state(self) -> State:
        """Return the state now (after ``show``: the state shown)."""
        if self._shown is not None:
            return self._shown
        table, controller = self._running()
        data, quaternion = table.data, np.zeros(4)
        qpos = data.qpos
        mujoco.mju_mat2Quat(quaternion, data.site_xmat[table.tool])
        poses = qpos[table.object_qpos]
        return State(
            time_s=float(data.time),
            joints_rad=qpos[table.joint_qpos][None],
            ee_position_m=data.site_xpos[table.tool][None].copy(),
            ee_quaternion=quaternion[None],
            gripper_m=np.array([qpos[table.finger_qpos].sum()]),
            command=controller.command[None].copy(),
            object_names=self._names,
            object_positions_m=poses[:, :3].copy(),
            object_quaternions=poses[:, 3:].copy(),
            contacts=self._contacts.copy(),
        )

    def observe(self, cameras: Sequence[CameraContract], privileged: bool = False) -> Observation:
        """Render ``cameras`` now and return what a policy sees.

        Raises:
            UserError: An unknown camera, or a machine that cannot render.
        """
        state = self.state()
        table = self._loaded()
        images: dict[str, NDArray[np.uint8]] = {}
        if cameras:
            _pose(table, table.view, state)
        for camera in cameras:
            if camera.name not in CALIBRATION:
                raise unknown("camera", camera.name, CALIBRATION)
            painter = self._cache.painter(self._key)
            images[camera.name] = painter.paint(table.view, camera.name, camera.height_px, camera.width_px)
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, state.ee_quaternion[0])
        fingers = state.gripper_m.repeat(2) / 2
        if self._shown is None:
            fingers = table.data.qpos[table.finger_qpos]
        pose = np.concatenate([state.ee_position_m[0], rpy_from_rotation(rotation.reshape(3, 3)), fingers])
        return Observation(
            images_hwc_u8=images,
            proprioception=pose[None],
            joint_state=np.concatenate([state.joints_rad, state.gripper_m[:, None]], axis=1),
            step=self._steps,
            state=state if privileged else None,
        )

    def show(self, scene: SceneSpec, state: State) -> None:
        """Pose ``scene`` as in a recorded ``state``, for ``observe`` to draw; no physics.

        Stepping needs a ``reset`` afterwards.
        """
        names = tuple(o.name for o in scene.objects)
        if names != state.object_names:
            raise UserError(f"The scene has the objects {list(names)}, the state {list(state.object_names)}.")
        self._load(scene)
        self._controller, self._shown = None, state

    def close(self) -> None:
        """Free the compiled models and the renderer."""
        self._cache.close()
        self._table = self._controller = self._scene = self._shown = None

    def _load(self, scene: SceneSpec) -> TableModel:
        if scene != self._scene:
            check_scene(scene)
        key: SceneKey = tuple((o.shape, o.size) for o in scene.objects)
        table = self._cache.model(key)
        for thing, geoms in zip(scene.objects, table.colored, strict=True):
            table.model.geom_rgba[geoms] = catalog.COLORS[thing.color]
        self._scene, self._key, self._table, self._shown = scene, key, table, None
        self._names = tuple(o.name for o in scene.objects)
        return table

    def _settle(self, table: TableModel, places: Sequence[Place]) -> bool:
        """Put the objects down, wait 0.2 s, and return whether they stay where they were put."""
        assert self._scene is not None
        model, data = table.model, table.data
        mujoco.mj_resetData(model, data)
        data.qpos[table.joint_qpos] = self._home
        data.qpos[table.finger_qpos] = 0.04
        data.ctrl[table.servo_ctrl] = np.append(self._home, 1.0)
        wanted = np.zeros((len(places), 7))
        for row, place, thing in zip(wanted, places, self._scene.objects, strict=True):
            height = catalog.rest_height_m(thing.shape, catalog.scale_of(thing.size))
            half = place.yaw_rad / 2
            row[:] = (place.x_m, place.y_m, height, np.cos(half), 0.0, 0.0, np.sin(half))
        slots = table.object_qpos
        data.qpos[slots] = wanted
        mujoco.mj_step(model, data, _SETTLE_STEPS)
        mujoco.mj_kinematics(model, data)
        settled = data.qpos[slots]
        moved = np.linalg.norm(settled[:, :3] - wanted[:, :3], axis=1)
        upright = data.xmat[table.bodies][:, 8]
        calm = np.abs(data.qvel).max(initial=0.0) < _SETTLE_SPEED
        return bool(calm and (moved < _SETTLE_MOVED_M).all() and (upright > _SETTLE_TILT).all())

    def _loaded(self) -> TableModel:
        if self._table is None:
            raise RuntimeError("reset() the world first")
        return self._table

    def _running(self) -> tuple[TableModel, Controller]:
        if self._controller is None:
            raise RuntimeError("reset() the world before stepping it (show() ends an episode)")
        return self._loaded(), self._controller


def _pose(table: TableModel, view: Any, state: State) -> None:
    """Put arm, fingers and objects of ``view`` where ``state`` says."""
    view.qpos[table.joint_qpos] = state.joints_rad[0]
    view.qpos[table.finger_qpos] = state.gripper_m[0] / 2
    view.qpos[table.object_qpos] = np.concatenate(
        [state.object_positions_m, state.object_quaternions], axis=1
    )
    mujoco.mj_kinematics(table.model, view)
    mujoco.mj_comPos(table.model, view)
    mujoco.mj_camlight(table.model, view)


__all__ = ["F64", "TabletopWorld"]
