"""Measure the scripted experts over random poses and write docs/results/experts.md.

Every episode is one noisy-approach demonstration, placed anywhere in the scene area at any
yaw, and counts when ``spec.manipulation.read`` finds the target manipulated first, with the
verb that was asked for. Nothing is rendered.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from heedful.metrics.rates import wilson
from heedful.spec.manipulation import VERBS, Manipulation, read
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.spec.seeds import generator, seed_sequence
from heedful.spec.state import Trajectory
from heedful.worlds.tabletop import make
from heedful.worlds.tabletop.catalog import COLORS, SHAPES, SIZES
from heedful.worlds.tabletop.experts import cannot_do, plan_keyposes, script
from heedful.worlds.tabletop.world import TabletopWorld

TARGET = "target"
ALL_SIZES = (None, *SIZES)
ERRORS_M = (0.003, 0.006, 0.010, 0.020, 0.050)
Cell = tuple[str, str, str | None]


def demonstrate(
    world: TabletopWorld, scene: SceneSpec, verb: str, seed: int, *key: str | int, error_m: float = 0.0
) -> Manipulation:
    """Return what one demonstration of ``verb`` on the scene's target did.

    ``error_m`` is the standard deviation of one shift of all keyposes after the approach, in
    x and y; half of it shifts them in z, and 10 rad a metre of it turns them.
    """
    states = [world.reset(scene, seed_sequence(seed, "experts", *key), "ee_absolute")]
    noise = generator(seed, "experts", "noise", *key)
    keyposes = plan_keyposes(states[0], scene, TARGET, verb, noise)
    if error_m:
        dx, dy, dz, turn = noise.normal(0.0, (error_m, error_m, error_m / 2, 10 * error_m))
        keyposes = (
            keyposes[0],
            *(
                replace(k, position_m=(x + dx, y + dy, z + dz), yaw_rad=k.yaw_rad + turn)
                for k in keyposes[1:]
                for x, y, z in (k.position_m,)
            ),
        )
    states += [world.step(action) for action in script(states[0], keyposes).actions]
    return read(Trajectory.stack(states))


def alone(world: TabletopWorld, cell: Cell, episodes: int, seed: int, error_m: float = 0.0) -> int:
    """Return the successes of one verb, shape and size with nothing else on the table."""
    verb, shape, size = cell
    scene = SceneSpec((ObjectSpec(TARGET, shape, "red", size),), yaw_range_rad=np.pi)
    key = (verb, shape, size or "none")
    did = [demonstrate(world, scene, verb, seed, *key, k, error_m=error_m) for k in range(episodes)]
    return sum(d.object == TARGET and d.verb == verb for d in did)


def crowded(
    world: TabletopWorld, verb: str, episodes: int, seed: int, sizes: Sequence[str | None]
) -> tuple[int, int]:
    """Return how often the target came first, and did so with the verb, beside three others."""
    first = done = 0
    for k in range(episodes):
        key = ("crowded", verb, len(sizes), k)
        rng = generator(seed, "experts", "scene", *key)

        def thing(name: str, rng: np.random.Generator = rng) -> ObjectSpec:
            size = sizes[int(rng.integers(len(sizes)))]
            return ObjectSpec(name, str(rng.choice(list(SHAPES))), str(rng.choice(list(COLORS))), size)

        scene = SceneSpec(tuple(thing(n) for n in (TARGET, "a", "b", "c")), yaw_range_rad=np.pi)
        did = demonstrate(world, scene, verb, seed, *key)
        first += did.object == TARGET
        done += did.object == TARGET and did.verb == verb
    return first, done


def rate(k: int, n: int) -> str:
    """Return ``k/n [low, high]`` with the 95 % Wilson interval in percent."""
    if n == 0:
        return "-"
    found = wilson(k, n)
    assert found.low is not None and found.high is not None
    return f"{k}/{n} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [list(head), ["---"] * len(head), *(list(r) for r in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def report(seed: int, episodes: int) -> str:
    """Run everything and return the page."""
    world, began = make(), time.perf_counter()
    cells = [(v, s, z) for v in VERBS for s in SHAPES for z in ALL_SIZES]
    excluded = {c: why for c in cells if (why := cannot_do(*c)) is not None}
    a_size = -(-episodes // len(SHAPES))  # so that a verb and a size have at least ``episodes``
    count = {c: 0 if c in excluded else episodes if c[2] is None else a_size for c in cells}
    good: dict[Cell, int] = {}
    for c in cells:
        good[c] = alone(world, c, count[c], seed)
        sys.stdout.write(f"{c[0]:7s}{c[1]:8s}{c[2] or 'standard':9s} {good[c]}/{count[c]}\n")
        sys.stdout.flush()

    def pooled(chosen: Iterable[Cell]) -> str:
        chosen = list(chosen)
        return rate(sum(good[c] for c in chosen), sum(count[c] for c in chosen))

    beside = {
        (v, label): crowded(world, v, episodes, seed, sizes)
        for v in VERBS
        for label, sizes in (("standard", (None,)), ("any", ALL_SIZES))
    }
    astray = {
        (v, e): sum(alone(world, (v, s, None), a_size, seed, e) for s in SHAPES)
        for v in VERBS
        for e in ERRORS_M
    }
    total = sum(count.values()) + len(VERBS) * (2 * episodes + len(ERRORS_M) * a_size * len(SHAPES))
    seconds = time.perf_counter() - began
    return "\n\n".join(
        [
            "# How often the scripted experts succeed",
            f"`python scripts/experts_table.py --seed {seed} --episodes {episodes}`: {total} episodes in "
            f"{seconds:.0f} s ({1000 * seconds / total:.0f} ms each) in one process, nothing rendered. "
            "Objects stand anywhere in the scene area at any yaw (+-pi); the approach is noisy as in "
            "demonstrations. An episode counts when the target is manipulated first, with the verb that "
            "was asked for (`heedful.spec.manipulation`). Intervals: Wilson, 95 %, in percent.",
            "Excluded by rule (`experts.cannot_do`): "
            + ("; ".join(f"{v} {s} {z or 'standard'}: {w}" for (v, s, z), w in excluded.items()) or "nothing")
            + ".",
            "## Standard size, the target alone",
            table(
                ("verb", *SHAPES, "all shapes"),
                (
                    (v, *(pooled([(v, s, None)]) for s in SHAPES), pooled((v, s, None) for s in SHAPES))
                    for v in VERBS
                ),
            ),
            "## The six sizes, all shapes together",
            table(
                ("verb", *SIZES), ((v, *(pooled((v, s, z) for s in SHAPES) for z in SIZES)) for v in VERBS)
            ),
            "## The six sizes, all verbs together",
            table(
                ("shape", *SIZES), ((s, *(pooled((v, s, z) for v in VERBS) for z in SIZES)) for s in SHAPES)
            ),
            "## Beside three other objects, placed by the scene sampler",
            "Shapes and colors at random, full yaw. First: the first object manipulated is the target. "
            "Done: and the verb is the one asked for.",
            table(
                ("verb", "first, standard size", "done", "first, any size", "done"),
                ((v, *(rate(k, episodes) for z in ("standard", "any") for k in beside[v, z])) for v in VERBS),
            ),
            "## With keyposes that are off, as a learned policy's are",
            "Standard size, all shapes, full yaw. One shift for the whole episode, normal with the standard "
            "deviation at the head of the column in x and y, half of that in z, and a turn of 0.01 rad a "
            "millimetre. The last column is the control: a measure that cannot fail would stay at 100 %.",
            table(
                ("verb", *(f"{1000 * e:.0f} mm" for e in ERRORS_M)),
                ((v, *(rate(astray[v, e], a_size * len(SHAPES)) for e in ERRORS_M)) for v in VERBS),
            ),
        ]
    )


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=100, help="per verb and shape (and verb and size)")
    parser.add_argument("--out", type=Path, default=Path("docs/results/experts.md"))
    given = parser.parse_args()
    page = report(given.seed, given.episodes)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(page + "\n")


if __name__ == "__main__":
    main()
