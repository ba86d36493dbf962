"""From keyposes to the actions of a whole episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.spec.keypose import Keypose, phase_chunk
from heedful.spec.state import F64, State
from heedful.worlds.tabletop.experts.grasp import yaw_of


@dataclass(frozen=True, eq=False)
class Script:
    """What to do from the first step to the last, open loop.

    Attributes:
        actions: [T, 7] in ``ee_absolute``.
        phases: [T] index into ``spec.keypose.PHASES`` of the keypose each action heads for.
    """

    actions: F64
    phases: NDArray[np.int64]


def script(state: State, keyposes: Sequence[Keypose], robot: int = 0) -> Script:
    """Return the actions that take the tool from where it is in ``state`` through ``keyposes``."""
    position, yaw = state.ee_position_m[robot], yaw_of(state.ee_quaternion[robot])
    chunks = []
    for phase, keypose in enumerate(keyposes):
        chunks.append(phase_chunk(position, yaw, keypose, phase))
        position, yaw = np.asarray(keypose.position_m), keypose.yaw_rad
    phases = np.repeat(np.arange(len(chunks)), [len(c) for c in chunks])
    return Script(np.concatenate(chunks), phases)
