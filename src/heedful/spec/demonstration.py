"""What to demonstrate, and a recorded demonstration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from heedful.spec.grammar import Instruction
from heedful.spec.scene import SceneSpec


@dataclass(frozen=True)
class DemonstrationTask:
    """One demonstration to collect.

    Attributes:
        id: Stable and readable: ``color-object/0007``.
        instruction: The task string of the dataset, and the values behind it.
        scene: What stands on the table; attempt k of the task is placed under
            ``seeds.generator(base_seed, seed_key, k)``.
        target: Name of the object to act on.
        verb: What to do to it.
    """

    id: str
    instruction: Instruction
    scene: SceneSpec
    target: str
    verb: str
    seed_key: str


@dataclass(frozen=True, eq=False)
class Demonstration:
    """A successful demonstration, T control steps, one robot.

    Attributes:
        task: The instruction.
        images_hwc_u8: Camera name -> [T, H, W, 3], what was seen before each action.
        joint_state: [T, 8] seven joint angles in rad, gripper opening in m.
        ee_state: [T, 8] as ``Observation.proprioception``.
        actions: [T, 8] absolute joint targets in rad, gripper command 0..1.
        keypose: [T, 5] x, y, z (m), yaw (rad), gripper (0..1): the pose the expert is heading
            for; with a noisy approach it is the clean pose, so noisy frames teach correction.
        phase: [T] index of that keypose, 0..4.
        attempts: Attempts needed, failures included (1 = the first one succeeded).
    """

    task: str
    images_hwc_u8: Mapping[str, NDArray[np.uint8]]
    joint_state: NDArray[np.float64]
    ee_state: NDArray[np.float64]
    actions: NDArray[np.float64]
    keypose: NDArray[np.float64]
    phase: NDArray[np.int64]
    fps: float = 20.0
    attempts: int = 1
    source: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.actions)
