"""A compiled MuJoCo model for what stands on the table, kept for the next episode that needs it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from heedful.spec.contract import Calibration
from heedful.spec.state import CONTACT_PARTS
from heedful.worlds.tabletop import cameras, catalog, shapes
from heedful.worlds.tabletop.graphics import Painter
from heedful.worlds.tabletop.robot import JOINTS, add_panda, place_camera

TIMESTEP_S = 0.002
SceneKey = tuple[tuple[str, str | None], ...]
"""Shape and size of every object, in order: all that the compiled model depends on."""

_LEFT, _RIGHT, _HAND = range(3)  # positions in spec.state.CONTACT_PARTS


@dataclass(frozen=True, eq=False)
class TableModel:
    """A compiled scene and where things are in its arrays.

    Attributes:
        model: The ``mujoco.MjModel``.
        data: The state that is stepped.
        view: A second state, posed from recorded states and only ever drawn.
        joint_qpos, finger_qpos: Addresses in ``qpos`` of the seven joints and two fingers.
        servo_ctrl: Addresses in ``ctrl`` of the seven joint servos and the gripper.
        tool: Site id of the tool centre point.
        bodies: [N] body ids of the objects.
        object_qpos: [N, 7] addresses in ``qpos`` of the objects' positions and quaternions.
        contact_slot: [ngeom, ngeom] which entry of a flat [N * 3 + 1] contact array a
            touching pair of geoms sets; the last entry stands for all that is of no interest.
        colored: For every object the ids of the geoms that take its color.
    """

    model: Any
    data: Any
    view: Any
    joint_qpos: NDArray[np.int64]
    finger_qpos: NDArray[np.int64]
    servo_ctrl: NDArray[np.int64]
    tool: int
    bodies: NDArray[np.int64]
    object_qpos: NDArray[np.int64]
    contact_slot: NDArray[np.int64]
    colored: tuple[NDArray[np.int64], ...]


def table_spec() -> Any:
    """Return the ``mujoco.MjSpec`` of table, lights, agent camera and robot, without objects."""
    spec = mujoco.MjSpec()
    spec.modelname, spec.compiler.degree = "heedful-tabletop", False
    option = spec.option
    option.timestep, option.integrator = TIMESTEP_S, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone, option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 5
    visual = spec.visual
    visual.global_.offwidth = visual.global_.offheight = 256
    # Shadows and multisampling cost 4 to 8 times in a software renderer and darken colors.
    visual.quality.offsamples, visual.quality.shadowsize = 0, 0
    visual.headlight.ambient, visual.headlight.diffuse = [0.42] * 3, [0.18] * 3
    visual.headlight.specular = [0.0] * 3
    visual.map.znear = 0.01
    spec.stat.extent, spec.stat.center = 1.2, (0.4, 0, 0.1)
    world = spec.worldbody
    world.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=(3, 3, 0.1),
        pos=(0, 0, -0.75),
        rgba=(0.35, 0.38, 0.4, 1),
    )
    world.add_geom(
        name="table",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=(0.6, 0.6, 0.02),
        pos=(0.4, 0, -0.02),
        rgba=(0.74, 0.73, 0.71, 1),
        friction=(shapes.SLIDING_FRICTION, 0.01, 0.0001),
    )
    world.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=(1.0, -0.6, 1.8),
        dir=(-0.25, 0.2, -1),
        diffuse=[0.5] * 3,
        castshadow=False,
    )
    _add_camera(world, "agent", cameras.AGENT)
    add_panda(spec, "r0_")
    return spec


def _add_camera(body: Any, name: str, camera: Calibration) -> None:
    place_camera(body.add_camera(name=name), camera.position_m, camera.rotation, camera.fovy_rad)


def compile_table(key: SceneKey) -> TableModel:
    """Compile the scene whose objects have the shapes and sizes of ``key``."""
    spec = table_spec()
    for i, (shape, size) in enumerate(key):
        shapes.add_object(spec, f"o{i}", shape, catalog.scale_of(size), (0.5, 0.5, 0.5, 1.0))
    model = spec.compile()
    bodies = np.array([model.body(f"o{i}").id for i in range(len(key))], dtype=np.int64)
    names = [model.geom(g).name for g in range(model.ngeom)]
    colored = tuple(
        np.array([g for g, name in enumerate(names) if name.startswith(f"o{i}:color:")], dtype=np.int64)
        for i in range(len(key))
    )

    def joints(*wanted: str) -> NDArray[np.int64]:
        return np.array([model.joint(name).qposadr[0] for name in wanted], dtype=np.int64)

    numbers = range(1, JOINTS + 1)
    return TableModel(
        model=model,
        data=mujoco.MjData(model),
        view=mujoco.MjData(model),
        joint_qpos=joints(*(f"r0_joint{i}" for i in numbers)),
        finger_qpos=joints("r0_left_slide", "r0_right_slide"),
        servo_ctrl=np.array(
            [model.actuator(n).id for n in (*(f"r0_servo{i}" for i in numbers), "r0_gripper")]
        ),
        tool=model.site("r0_tool").id,
        bodies=bodies,
        object_qpos=joints(*(f"o{i}:free" for i in range(len(key))))[:, None] + np.arange(7),
        contact_slot=_contact_slots(model, bodies),
        colored=colored,
    )


def _contact_slots(model: Any, bodies: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the table ``TableModel.contact_slot``."""
    parts = {"r0_left_finger": _LEFT, "r0_right_finger": _RIGHT}
    count = len(bodies)
    slots = np.full((model.nbody, model.nbody), count * len(CONTACT_PARTS))
    for robot in range(model.nbody):
        name = model.body(robot).name
        if name.startswith("r0_"):
            slot = np.arange(count) * len(CONTACT_PARTS) + parts.get(name, _HAND)
            slots[robot, bodies] = slots[bodies, robot] = slot
    return slots[np.ix_(model.geom_bodyid, model.geom_bodyid)]


class ModelCache:
    """The last few compiled scenes, least recently used first, each with its painter once drawn."""

    def __init__(self, capacity: int) -> None:
        self._capacity = max(1, capacity)
        self._models: OrderedDict[SceneKey, TableModel] = OrderedDict()
        self._painters: dict[SceneKey, Painter] = {}

    def model(self, key: SceneKey) -> TableModel:
        """Return the compiled scene of ``key``, compiling it at most once while it is kept."""
        if key not in self._models:
            if len(self._models) >= self._capacity:
                oldest, _ = self._models.popitem(last=False)
                self._close_painter(oldest)
            self._models[key] = compile_table(key)
        self._models.move_to_end(key)
        return self._models[key]

    def painter(self, key: SceneKey) -> Painter:
        """Return the painter of the scene of ``key``; made at the first call."""
        if key not in self._painters:
            self._painters[key] = Painter(self.model(key).model)
        return self._painters[key]

    def close(self) -> None:
        """Forget every model and free every painter."""
        for key in list(self._painters):
            self._close_painter(key)
        self._models.clear()

    def _close_painter(self, key: SceneKey) -> None:
        painter = self._painters.pop(key, None)
        if painter is not None:
            painter.close()
