"""Control steps a second when a policy looks every 10 steps, every step, and when all is rendered anyway.

    OMP_NUM_THREADS=1 python benchmarks/looking.py [EPISODES]

The arm makes the same moves in every row, in one process. The world is rendered only when the
policy looks; "always" is what a world costs that renders in every step, as many do. Rows are
interleaved and the best of several rounds is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.rollouts.loop import run_episode
from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.contract import CameraContract, Observation, PolicyContract
from heedful.spec.grammar import Instruction
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.spec.seams import Start
from heedful.spec.state import State
from heedful.worlds.tabletop import make as make_world
from heedful.worlds.tabletop.world import TabletopWorld

STEPS, ROUNDS, SIZE_PX = 120, 5, 128
CAMERAS = (CameraContract("agent", SIZE_PX, SIZE_PX), CameraContract("wrist", SIZE_PX, SIZE_PX))
SCENE = SceneSpec((ObjectSpec("a", "cube", "red"), ObjectSpec("b", "sphere", "blue")))


class Looking:
    """Waves the arm about; looks at ``cameras`` every ``every`` steps."""

    def __init__(self, every: int, cameras: Sequence[CameraContract] = CAMERAS) -> None:
        self.every, self.cameras = every, tuple(cameras)

    @property
    def contract(self) -> PolicyContract:
        """Absolute tool poses, ``every`` at a time."""
        return PolicyContract(self.cameras, "ee_absolute", 20.0)

    def reset(self, start: Start) -> str:
        """Begin an episode."""
        return start.instruction

    def act(self, observation: Observation) -> NDArray[np.float64]:
        """Return the next moves [every, 7] of a figure of eight above the table."""
        t = (observation.step + np.arange(self.every)) / 20
        actions = np.zeros((self.every, 7))
        actions[:, :3] = np.stack([0.45 + 0.1 * np.sin(t), 0.15 * np.sin(2 * t), 0.25 + 0 * t], axis=1)
        return actions


def make(every: str) -> Looking:
    """Return the policy of ``python:looking:make:EVERY``; 0: no cameras, a look every 10 steps."""
    return Looking(int(every)) if int(every) else Looking(10, ())


class AlwaysRendering(TabletopWorld):
    """Renders both cameras after every step, whether the policy looks or not."""

    def step(self, action: NDArray[np.float64]) -> State:
        """Step and render."""
        state = super().step(action)
        super().observe(CAMERAS)
        return state


def episode(number: int, steps: int = STEPS) -> Episode:
    """Return an episode of ``steps`` control steps."""
    case = Case(f"look/{number}", "looking", "", Instruction("wave"), SCENE, max_steps=steps)
    return Episode(case, PolicyEntry("python:looking:make", "looking"))


def steps_a_second(world: Any, policy: Looking, episodes: int) -> float:
    """Return control steps a CPU second over ``episodes``, resets included."""
    begun = process_time()
    rows = [run_episode(world, policy, episode(i))[0] for i in range(episodes)]
    assert all(row.steps == STEPS for row in rows), rows[0].error
    return episodes * STEPS / (process_time() - begun)


def main(episodes: int) -> None:
    """Print the table."""
    world, rendering = make_world(), AlwaysRendering()
    rows: dict[str, tuple[Any, Looking]] = {
        "never rendered": (world, Looking(10, ())),
        "a look every 10 steps": (world, Looking(10)),
        "a look every step": (world, Looking(1)),
        "a look every 10 steps, always rendered": (rendering, Looking(10)),
    }
    best = dict.fromkeys(rows, 0.0)
    for number in range(ROUNDS + 1):
        for name, (where, policy) in rows.items():
            found = steps_a_second(where, policy, episodes)
            best[name] = max(best[name], found if number else 0.0)  # the first round compiles and warms
    base = best["a look every 10 steps"]
    for name, speed in best.items():
        print(f"{name:42}{speed:>6.0f} steps a CPU second  [{speed / base:.2f}]")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
