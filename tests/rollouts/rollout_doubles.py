"""A world and a policy that are quick, exact and can be told to misbehave."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.spec.case import Case, PolicyEntry
from heedful.spec.contract import ActionMode, CameraContract, Observation, PolicyContract, WorldContract
from heedful.spec.demonstration import DemonstrationTask
from heedful.spec.errors import UserError
from heedful.spec.grammar import Instruction
from heedful.spec.keypose import Keypose
from heedful.spec.run import RunSpec
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.spec.seams import Start
from heedful.spec.state import State

SCENE = SceneSpec((ObjectSpec("red", "cube", "red"), ObjectSpec("blue", "cube", "blue")))


class DoubleWorld:
    """Two objects at random places; the tool goes where it is told and drags what it meets."""

    def __init__(self, broken_at: int = -1, note: str = "", hangs_at: int = -1) -> None:
        self.broken_at = broken_at
        self.hangs_at = hangs_at
        self.note = note
        self.renders = self.steps = 0
        self.closed = False

    @property
    def contract(self) -> WorldContract:
        return WorldContract(("agent", "wrist"), ("joint_absolute", "ee_absolute", "ee_delta"), 20.0)

    def reset(self, scene: SceneSpec, seed: int | np.random.SeedSequence, action_mode: ActionMode) -> State:
        rng = np.random.default_rng(seed)
        self.names = tuple(o.name for o in scene.objects)
        self.mode = action_mode
        self.objects = rng.uniform(-0.2, 0.2, (len(self.names), 3)) * [1, 1, 0] + [0.5, 0, 0.02]
        self.tool = np.array([0.4, 0.0, 0.3])
        self.command = np.zeros(8)
        self.steps = 0
        return self._state()

    def step(self, action: NDArray[np.float64]) -> State:
        if self.steps == self.broken_at:
            raise RuntimeError("the solver diverged\nsecond line")
        if self.steps == self.hangs_at:
            ctypes.PyDLL(None).sleep(600)  # in foreign code that keeps the interpreter's lock
        self.steps += 1
        self.command = np.r_[action[:3], np.zeros(4), action[-1]]
        self.tool = np.array(action[:3])
        near = np.linalg.norm(self.objects - self.tool, axis=1) < 0.03
        self.objects[near] = self.tool
        return self._state()

    def observe(self, cameras: Sequence[CameraContract], privileged: bool = False) -> Observation:
        self.renders += len(cameras)
        images = {}
        for camera in cameras:
            image = np.zeros((camera.height_px, camera.width_px, 3), np.uint8)
            image[..., 0] = np.linspace(0, 200, camera.width_px, dtype=np.uint8)
            image[..., 1] = np.clip(self.tool[2] * 500, 0, 255)
            images[camera.name] = image
        pose = np.r_[self.tool, 0, 0, 0, 0.02, 0.02][None]
        joints = np.r_[self.tool, np.zeros(4), 0.04][None]
        return Observation(images, pose, joints, self.steps, self._state() if privileged else None)

    def show(self, scene: SceneSpec, state: State) -> None:
        self.tool = np.array(state.ee_position_m[0])

    def close(self) -> None:
        self.closed = True

    def _state(self) -> State:
        n = len(self.names)
        touching = np.linalg.norm(self.objects - self.tool, axis=1) < 0.03
        return State(
            time_s=self.steps / 20,
            joints_rad=np.r_[self.tool, np.zeros(4)][None],
            ee_position_m=self.tool[None].copy(),
            ee_quaternion=np.array([[1.0, 0, 0, 0]]),
            gripper_m=np.array([0.04]),
            command=self.command[None].copy(),
            object_names=self.names,
            object_positions_m=self.objects.copy(),
            object_quaternions=np.tile([1.0, 0, 0, 0], (n, 1)),
            contacts=np.repeat(touching[:, None], 3, axis=1)[None],
        )


class DoublePolicy:
    """Goes to the object its instruction names, in chunks of four; ``rest`` says how it fails.

    ``nan``, ``width``, ``raise``, ``mute`` (reset returns None), ``refuse`` (cannot be made),
    ``camera`` (needs one the world lacks), ``die``, ``hang``; ``once=FILE`` dies unless FILE
    exists, and makes it; ``slow`` takes 0.15 s a look; ``random`` adds noise drawn from the
    episode's seed; anything else is good.
    """

    def __init__(self, rest: str = "") -> None:
        self.rest = rest
        if rest == "refuse":
            raise UserError("no checkpoint there")

    @property
    def contract(self) -> PolicyContract:
        cameras = (CameraContract("nose" if self.rest == "camera" else "agent", 16, 24),)
        replan = 2 if self.rest == "replan" else None
        return PolicyContract(
            cameras, "ee_absolute", 20.0, privileged_state=self.rest != "blind", replan_steps=replan
        )

    def reset(self, start: Start) -> str:
        self.start = start
        self.rng = np.random.default_rng(start.seed)
        if self.rest == "mute":
            return None  # type: ignore[return-value]  # the fault under test
        return start.instruction.upper()

    def act(self, observation: Observation) -> NDArray[np.float64]:
        kind, _, file = self.rest.partition("=")
        if kind == "interrupt":
            raise KeyboardInterrupt
        if kind == "exit":
            os.write(1, b"printed by a library")
            raise SystemExit(3)
        if kind == "raise":
            raise ValueError("out of memory")
        if kind == "die" or (kind == "once" and not Path(file).exists()):
            if file:
                Path(file).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if kind == "hang":
            time.sleep(600)
        if kind == "slow":
            time.sleep(0.15)
        if kind == "width":
            return np.zeros((4, 6))
        if observation.step >= 12:
            return np.zeros((0, 7))
        actions = np.zeros((4, 7))
        actions[:, :3] = [0.4, 0.0, 0.2]
        if observation.state is not None and self.start.instruction:
            goal = observation.state.object_positions_m[
                observation.state.object_names.index(self.start.instruction)
            ]
            t = (np.arange(4) + 1)[:, None] / 4
            actions[:, :3] = observation.state.ee_position_m[0] * (1 - t) + goal * t
        if kind == "random":
            actions[:, :3] += self.rng.normal(0, 0.01, 3)
        if kind == "nan":
            actions[2, 1] = np.nan
        return actions


def cases(count: int = 4, **changes: Any) -> list[Case]:
    """Return cases that name red and blue in turn; two neighbours share a scene."""
    given: dict[str, Any] = {"max_steps": 40, **changes}
    return [
        Case(
            f"case/{i}",
            "double",
            "conflict",
            Instruction("red" if i % 2 == 0 else "blue"),
            SCENE,
            {"pair": "color,object"},
            f"scene/{i // 2}",
            **given,
        )
        for i in range(count)
    ]


def spec(*rests: str, **changes: Any) -> RunSpec:
    """Return a spec with one double policy for every entry of ``rests``."""
    policies = tuple(PolicyEntry(f"double:{rest}", rest or "good") for rest in rests or ("",))
    given: dict[str, Any] = {"suite": "double", "options": {}, "policies": policies, "world": "double"}
    return RunSpec(**{**given, **changes})


def tasks(count: int = 4, verb: str = "slide") -> list[DemonstrationTask]:
    """Return tasks on the red object, each with a scene of its own."""
    return [
        DemonstrationTask(
            f"pair/{i:02d}",
            Instruction(f"{verb} the red cube", {"verb": verb}),
            SCENE,
            "red",
            verb,
            f"demo/{i}",
        )
        for i in range(count)
    ]


def expert(
    state: State, scene: SceneSpec, name: str, verb: str, rng: np.random.Generator | None
) -> tuple[Keypose, ...]:
    """Drag the object 0.08 m to the side; a noisy one misses it in about half of its attempts."""
    x, y, z = state.object_positions_m[state.object_names.index(name)]
    if rng is not None and rng.random() < 0.5:
        z += 0.1
    away = 0.08 if verb == "slide" else 0.0
    path = (
        (x, y, z + 0.1, 1.0),
        (x, y, z + 0.05, 1.0),
        (x, y, z, 1.0),
        (x, y, z, 0.0),
        (x, y + away, z, 0.0),
    )
    return tuple(Keypose((float(a), float(b), float(c)), 0.0, g) for a, b, c, g in path)
