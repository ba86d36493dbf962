"""The Franka Emika Panda arm with its gripper, as a part of a MuJoCo spec.

Kinematics, masses and limits follow dm-robotics-panda 0.4.8 (assets/panda/NOTICE). Our own:
joint damping (the original has a negative one on joint 6), position servos, gravity
compensation (so that the commanded joints are reached), and simple collision shapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import mujoco
import numpy as np

from heedful.worlds.tabletop.cameras import TOOL_OFFSET_M, WRIST

BASE_M = (-0.1, 0.0, 0.0)
JOINTS = 7
POSTURE_RAD = np.array([0.0, -0.6, 0.0, -2.4, 0.0, 1.85, 0.785])
"""The posture that inverse kinematics prefers among those that reach a pose."""


@dataclass(frozen=True)
class _Link:
    """One moving link: its frame in the parent, its joint's limits, its mass and inertia."""

    position_m: tuple[float, float, float]
    quaternion: tuple[float, float, float, float]
    range_rad: tuple[float, float]
    mass_kg: float
    centre_m: tuple[float, float, float]
    inertia: tuple[float, float, float, float, float, float]


_R = float(np.sqrt(0.5))
_LINKS = (
    _Link((0, 0, 0.333), (1, 0, 0, 0), (-2.897, 2.897), 4.970684, (3.875e-3, 2.081e-3, -4.762e-2),
          (7.0337e-1, 7.0661e-1, 9.1170e-3, -1.3900e-4, 6.7720e-3, 1.9169e-2)),
    _Link((0, 0, 0), (_R, -_R, 0, 0), (-1.7627, 1.7627), 0.646926, (-3.141e-3, -2.872e-2, 3.495e-3),
          (7.9620e-3, 2.8110e-2, 2.5995e-2, -3.9250e-3, 1.0254e-2, 7.0400e-4)),
    _Link((0, -0.316, 0), (_R, _R, 0, 0), (-2.897, 2.897), 3.228604, (2.7518e-2, 3.9252e-2, -6.6502e-2),
          (3.7242e-2, 3.6155e-2, 1.0830e-2, -4.7610e-3, -1.1396e-2, -1.2805e-2)),
    _Link((0.0825, 0, 0), (_R, _R, 0, 0), (-3.0717, -0.0698), 3.587895, (-5.317e-2, 1.04419e-1, 2.7454e-2),
          (2.5853e-2, 1.9552e-2, 2.8323e-2, 7.7960e-3, -1.3320e-3, 8.6410e-3)),
    _Link((-0.0825, 0.384, 0), (_R, -_R, 0, 0), (-2.897, 2.897), 1.225946,
          (-1.1953e-2, 4.1065e-2, -3.8437e-2),
          (3.5549e-2, 2.9474e-2, 8.6270e-3, -2.1170e-3, -4.0370e-3, 2.2900e-4)),
    _Link((0, 0, 0), (_R, _R, 0, 0), (-0.0174, 3.7524), 1.666555, (6.0149e-2, -1.4117e-2, -1.0517e-2),
          (1.9640e-3, 4.3540e-3, 5.4330e-3, 1.0900e-4, -1.1580e-3, 3.4100e-4)),
    _Link((0.088, 0, 0), (_R, _R, 0, 0), (-2.897, 2.897), 0.735522, (1.0517e-2, -4.252e-3, 6.1597e-2),
          (1.2516e-2, 1.0027e-2, 4.8150e-3, -4.2800e-4, -1.1960e-3, -7.4100e-4)),
)  # fmt: skip
_STIFFNESS = (4500.0, 4500.0, 3500.0, 3500.0, 2000.0, 2000.0, 2000.0)
_DAMPING_SHARE = 0.04  # servo damping over stiffness, in seconds: the lag of the tool behind its command
_FORCE = (87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0)
_WHITE = (0.90, 0.91, 0.93, 1.0)
_GREY = (0.55, 0.57, 0.60, 1.0)
_SEEN = {"contype": 0, "conaffinity": 0, "group": 2}
# Contact bits 1 and 0: the robot touches objects and table, never itself.
_TOUCHES = {"contype": 1, "conaffinity": 0, "group": 4, "rgba": (0.2, 0.6, 0.9, 0.3)}


def add_panda(spec: Any, prefix: str, base_m: tuple[float, float, float] = BASE_M) -> None:
    """Add an arm to ``spec``: bodies, joints, servos, tool site and wrist camera.

    Args:
        spec: The ``mujoco.MjSpec`` to extend.
        prefix: Put before every name, for example ``"r0_"``.
        base_m: Where the base stands.
    """
    _add_meshes(spec)
    body = spec.worldbody.add_body(name=f"{prefix}link0", pos=base_m)
    _show(body, "link0", _WHITE)
    for i, link in enumerate(_LINKS, start=1):
        body = body.add_body(name=f"{prefix}link{i}", pos=link.position_m, quat=link.quaternion, gravcomp=1)
        _weigh(body, link.mass_kg, link.centre_m)
        body.fullinertia = link.inertia
        joint = body.add_joint(name=f"{prefix}joint{i}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 0, 1))
        joint.limited, joint.range = True, link.range_rad
        joint.armature, joint.damping[0] = 0.1, 1.0
        _show(body, f"link{i}", _WHITE)
        servo = spec.add_actuator(
            name=f"{prefix}servo{i}", target=f"{prefix}joint{i}", trntype=mujoco.mjtTrn.mjTRN_JOINT
        )
        kp = _STIFFNESS[i - 1]
        servo.set_to_position(kp=kp, kv=kp * _DAMPING_SHARE)
        servo.ctrllimited, servo.ctrlrange = True, link.range_rad
        servo.forcelimited, servo.forcerange = True, (-_FORCE[i - 1], _FORCE[i - 1])
        if i == 5:  # the forearm, so that it cannot pass through the table
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CAPSULE,
                size=(0.06, 0, 0),
                fromto=(0, 0.04, 0, 0, 0.04, -0.24),
                **_TOUCHES,
            )
    _add_hand(spec, body, prefix)


def _add_meshes(spec: Any) -> None:
    folder = files("heedful.worlds.tabletop") / "assets" / "panda"
    for name in (*(f"link{i}" for i in range(JOINTS + 1)), "hand", "finger"):
        if spec.mesh(name) is None:
            mesh = spec.add_mesh(name=name, file=f"{name}.obj")
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
            spec.assets[f"{name}.obj"] = (folder / f"{name}.obj").read_bytes()


def _add_hand(spec: Any, link7: Any, prefix: str) -> None:
    turn = -np.pi / 8
    hand = link7.add_body(
        name=f"{prefix}hand", pos=(0, 0, 0.107), quat=(np.cos(turn), 0, 0, np.sin(turn)), gravcomp=1
    )
    _weigh(hand, 0.73, (-0.01, 0, 0.03))
    hand.inertia = (1e-3, 2.5e-3, 1.7e-3)
    _show(hand, "hand", _WHITE)
    hand.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=(0, 0, 0.028), size=(0.031, 0.102, 0.036), **_TOUCHES)
    hand.add_site(name=f"{prefix}tool", pos=(0, 0, TOOL_OFFSET_M), group=5)
    camera = hand.add_camera(name="wrist" if prefix == "r0_" else f"{prefix}wrist")
    place_camera(camera, np.add(WRIST.position_m, (0, 0, TOOL_OFFSET_M)), WRIST.rotation, WRIST.fovy_rad)
    for side, quaternion in (("left", (0, 0, 0, 1)), ("right", (1, 0, 0, 0))):
        finger = hand.add_body(name=f"{prefix}{side}_finger", pos=(0, 0, 0.0584), quat=quaternion, gravcomp=1)
        _weigh(finger, 0.015, (0, 0, 0))
        finger.inertia = (2.3749e-6, 2.3749e-6, 7.5e-7)
        slide = finger.add_joint(
            name=f"{prefix}{side}_slide", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=(0, 1, 0)
        )
        slide.limited, slide.range, slide.armature, slide.damping[0] = True, (0, 0.04), 0.1, 11.0
        _show(finger, "finger", _GREY)
        pad = finger.add_geom(
            name=f"{prefix}{side}_pad",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=(0, 0.005, 0.036),
            size=(0.010, 0.004, 0.018),
            **_TOUCHES,
        )
        pad.friction, pad.condim, pad.priority, pad.solref[:] = (1.0, 0.02, 0.002), 4, 1, (0.01, 1)
    couple = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT)
    couple.name1, couple.name2 = f"{prefix}left_slide", f"{prefix}right_slide"
    couple.data[:5] = (0, 1, 0, 0, 0)
    couple.solimp[:3], couple.solref[:] = (0.95, 0.99, 0.001), (0.005, 1)
    tendon = spec.add_tendon(name=f"{prefix}opening")
    for side in ("left", "right"):
        tendon.wrap_joint(f"{prefix}{side}_slide", 0.5)
    gripper = spec.add_actuator(
        name=f"{prefix}gripper", target=f"{prefix}opening", trntype=mujoco.mjtTrn.mjTRN_TENDON
    )
    gripper.gaintype, gripper.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
    gripper.gainprm[0], gripper.biasprm[:3] = 24, (0, -600, -50)
    gripper.ctrllimited, gripper.ctrlrange = True, (0, 1)
    gripper.forcelimited, gripper.forcerange = True, (-100, 100)


def place_camera(camera: Any, position_m: Any, rotation: Any, fovy_rad: float) -> None:
    """Set the pose (columns of ``rotation``: right, up, back) and field of view of a spec's camera."""
    camera.pos, camera.fovy = position_m, np.degrees(fovy_rad)
    camera.alt.type = mujoco.mjtOrientation.mjORIENTATION_XYAXES
    camera.alt.xyaxes = np.asarray(rotation)[:, :2].T.ravel()


def _weigh(body: Any, mass_kg: float, centre_m: tuple[float, float, float]) -> None:
    body.explicitinertial, body.mass, body.ipos = True, mass_kg, centre_m


def _show(body: Any, mesh: str, rgba: tuple[float, float, float, float]) -> None:
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=mesh, rgba=rgba, mass=0, **_SEEN)
