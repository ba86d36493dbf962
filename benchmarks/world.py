"""How many control steps a second the tabletop world makes, against bare MuJoCo in the same run.

    OMP_NUM_THREADS=1 python benchmarks/world.py

The arm follows the same random walk in every row, one thread. "Bare" is the same compiled
model under the same, precomputed servo targets: 25 physics steps a control step and nothing else,
plus, where images are made, ``mjv_updateScene``, ``mjr_render`` and ``mjr_readPixels``.
Rows are interleaved and the best of several rounds is kept, so that other load on the machine
tells against both sides alike.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import mujoco
import numpy as np
from numpy.typing import NDArray

from heedful.spec.contract import CameraContract
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.worlds.tabletop import catalog, make
from heedful.worlds.tabletop.build import compile_table
from heedful.worlds.tabletop.graphics import Painter
from heedful.worlds.tabletop.world import LOOKS, SUBSTEPS, TabletopWorld

STEPS, ROUNDS, SIZE_PX = 120, 15, 128
CAMERAS = (CameraContract("agent", SIZE_PX, SIZE_PX), CameraContract("wrist", SIZE_PX, SIZE_PX))
SCENE = SceneSpec(
    tuple(ObjectSpec(s, s, c) for s, c in zip(list(catalog.SHAPES)[:4], catalog.COLORS, strict=False))
)


def walk(world: TabletopWorld) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a random walk of tool poses [STEPS, 7] and the joint commands [STEPS, 8] it leads to."""
    rng = np.random.default_rng(0)
    state = world.reset(SCENE, 0, "ee_absolute")
    poses = np.zeros((STEPS, 7))
    at = np.append(state.ee_position_m[0], 0.0)
    heading = np.zeros(4)
    for pose in poses:
        heading = 0.8 * heading + rng.normal(0, (0.01, 0.01, 0.005, 0.05))
        at = np.clip(at + np.clip(heading, -0.03, 0.03), (0.34, -0.2, 0.10, -1), (0.64, 0.2, 0.3, 1))
        pose[:3], pose[5], pose[6] = at[:3], at[3], rng.integers(2)
    commands = np.array([world.step(pose).command[0] for pose in poses])
    return poses, commands


def bare(commands: NDArray[np.float64], every: int) -> Callable[[], float]:
    """Return a timed run of MuJoCo alone that draws both cameras every ``every`` steps (0: never)."""
    table = compile_table(tuple((o.shape, o.size) for o in SCENE.objects))
    world = make()
    world.reset(SCENE, 0, "joint_absolute")
    start = world._loaded().data.qpos.copy()
    before = np.concatenate([world.state().command, commands[:-1]])
    parts = np.arange(1, LOOKS + 1)[:, None] / LOOKS
    targets = before[:, None] + parts * (commands - before)[:, None]  # [STEPS, LOOKS, 8]
    painter = Painter(table.model) if every else None

    def run() -> float:
        mujoco.mj_resetData(table.model, table.data)
        table.data.qpos[:] = start
        begin = process_time()
        for step, path in enumerate(targets):
            for target in path:
                table.data.ctrl[:] = target
                mujoco.mj_step(table.model, table.data, SUBSTEPS)
            if painter is not None and step % every == 0:
                for camera in CAMERAS:
                    painter.paint(table.data, camera.name, SIZE_PX, SIZE_PX)
        return process_time() - begin

    return run


def ours(world: TabletopWorld, mode: str, actions: NDArray[np.float64], every: int) -> Callable[[], float]:
    """Return a timed run of the world in action mode ``mode`` that looks every ``every`` steps (0: never)."""

    def run() -> float:
        world.reset(SCENE, 0, mode)  # type: ignore[arg-type]  # names of the contract
        begin = process_time()
        for step, action in enumerate(actions):
            world.step(action)
            if every and step % every == 0:
                world.observe(CAMERAS)
        return process_time() - begin

    return run


def timed(run: Callable[[], object]) -> float:
    """Return the CPU seconds of ``run``."""
    begin = process_time()
    run()
    return process_time() - begin


def main() -> None:
    """Print the table."""
    world = make()
    poses, commands = walk(world)
    rows = {
        "without cameras": 0,
        "two 128 px cameras every step": 1,
        "two 128 px cameras every 10th step": 10,
    }
    runs = {
        (row, kind): run
        for row, every in rows.items()
        for kind, run in (
            ("bare", bare(commands, every)),
            ("joint", ours(world, "joint_absolute", commands, every)),
            ("ee", ours(world, "ee_absolute", poses, every)),
        )
    }
    best = {key: np.inf for key in runs}
    for run in runs.values():
        run()
    for _ in range(ROUNDS):
        for key, run in runs.items():
            best[key] = min(best[key], run())
    print("control steps a CPU second; ratio to bare MuJoCo in brackets")
    print(f"{'':36}{'bare':>8}{'joint_absolute':>20}{'ee_absolute':>20}")
    for row in rows:
        base = best[row, "bare"]
        cells = [f"{STEPS / best[row, k]:.0f} [{base / best[row, k]:.2f}]" for k in ("joint", "ee")]
        print(f"{row:36}{STEPS / base:>8.0f}{cells[0]:>20}{cells[1]:>20}")
    fresh = make()
    first, look = timed(lambda: fresh.reset(SCENE, 0, "ee_absolute")), timed(lambda: fresh.observe(CAMERAS))
    again = min(timed(lambda: fresh.reset(SCENE, 0, "ee_absolute")) for _ in range(10))
    seen = min(timed(lambda: fresh.observe(CAMERAS)) for _ in range(10))
    print(
        f"reset: {first * 1e3:.1f} ms with compiling, {again * 1e3:.1f} ms on a cache hit; "
        f"two pictures: {look * 1e3:.1f} ms the first time, {seen * 1e3:.1f} ms after"
    )


if __name__ == "__main__":
    main()
