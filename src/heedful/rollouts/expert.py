"""One attempt of a scripted expert, recorded as a demonstration if it succeeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.rollouts.replay import draw
from heedful.spec.contract import CameraContract
from heedful.spec.demonstration import Demonstration, DemonstrationTask
from heedful.spec.keypose import Keypose, phase_chunk
from heedful.spec.manipulation import read
from heedful.spec.scene import SceneSpec
from heedful.spec.seams import World
from heedful.spec.seeds import generator, seed_sequence
from heedful.spec.state import State, Trajectory

Expert = Callable[[State, SceneSpec, str, str, np.random.Generator | None], tuple[Keypose, ...]]
"""(state, scene, object name, verb, rng) -> keyposes, one a phase; noisy approach with an rng."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """What an expert did, not yet drawn.

    Attributes:
        trajectory: [T + 1] states.
        ee_state, joint_state: [T, 8] before each action.
        actions: [T, 8] absolute joint targets and gripper command, as the world executed them.
        keypose: [T, 5] the clean keypose headed for.
        phase: [T].
    """

    trajectory: Trajectory
    ee_state: NDArray[np.float64]
    joint_state: NDArray[np.float64]
    actions: NDArray[np.float64]
    keypose: NDArray[np.float64]
    phase: NDArray[np.int64]


def attempt(world: World, task: DemonstrationTask, expert: Expert, base_seed: int, number: int) -> Attempt:
    """Let ``expert`` do ``task`` once, in the scene of attempt ``number``, without rendering."""
    key = (task.seed_key, number)
    state = world.reset(task.scene, seed_sequence(base_seed, *key), "ee_absolute")
    rng = generator(base_seed, *key, "expert")
    clean = expert(state, task.scene, task.target, task.verb, None)
    noisy = expert(state, task.scene, task.target, task.verb, rng)
    states, before, keyposes, phases = [state], [], [], []
    position, yaw = state.ee_position_m[0], float(world.observe(()).proprioception[0, 5])
    for phase, goal in enumerate(noisy):
        label = (*clean[phase].position_m, clean[phase].yaw_rad, clean[phase].gripper)
        for action in phase_chunk(position, yaw, goal, phase):
            before.append(world.observe(()))
            states.append(world.step(action))
            keyposes.append(label)
            phases.append(phase)
        position, yaw = np.asarray(goal.position_m), goal.yaw_rad
    return Attempt(
        trajectory=Trajectory.stack(states),
        ee_state=np.stack([seen.proprioception[0] for seen in before]),
        joint_state=np.stack([seen.joint_state[0] for seen in before]),
        actions=np.stack([s.command[0] for s in states[1:]]),
        keypose=np.array(keyposes, dtype=np.float64),
        phase=np.array(phases, dtype=np.int64),
    )


def succeeded(task: DemonstrationTask, trajectory: Trajectory) -> bool:
    """Return whether ``trajectory`` shows the task's verb done to its target first."""
    seen = read(trajectory)
    return (seen.object, seen.verb) == (task.target, task.verb)


def recorded(
    world: World, task: DemonstrationTask, done: Attempt, attempts: int, cameras: tuple[CameraContract, ...]
) -> Demonstration:
    """Return ``done`` as a demonstration: what ``cameras`` saw before each action is drawn now."""
    trajectory = done.trajectory
    before = Trajectory.stack([trajectory.at(t) for t in range(len(trajectory) - 1)])
    return Demonstration(
        task=task.instruction.text,
        images_hwc_u8=draw(world, task.scene, before, cameras),
        joint_state=done.joint_state,
        ee_state=done.ee_state,
        actions=done.actions,
        keypose=done.keypose,
        phase=done.phase,
        fps=world.contract.control_hz,
        attempts=attempts,
        source={
            "id": task.id,
            "target": task.target,
            "verb": task.verb,
            "scene": task.scene.description,
            **task.instruction.values,
        },
    )
