"""Demonstrations a minute, and the time to judge and report 4,000 rollouts.

    OMP_NUM_THREADS=1 python benchmarks/pipeline.py

The baselines are measured in the same run: for demonstrations the bare simulation of the same
expert's motions without pictures, for judging the mere reading of the same Parquet files. The 4,000
rollouts are copies of real planted ones.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import pyarrow.parquet as parquet

from heedful.rollouts.expert import attempt
from heedful.spec.case import PolicyEntry
from heedful.spec.plugins import load as load_plugin
from heedful.spec.run import RunSpec
from heedful.store.run_folder import RunFolder
from heedful.workflows import collect, judge, report, run
from heedful.worlds.tabletop.experts import plan_keyposes

DEMOS, ROLLOUTS, BASE = 24, 4000, 40


def demonstrations(folder: Path) -> None:
    """Print demonstrations a minute, beside the same motions without pictures."""
    tasks = load_plugin("heedful.suites", "factors")().tasks({"pairs": ["color,object"], "demos": DEMOS})
    world = load_plugin("heedful.worlds", "tabletop")()
    attempt(world, tasks[0], plan_keyposes, 0, 0)
    begun = perf_counter()
    for task in tasks:
        attempt(world, task, plan_keyposes, 0, 0)
    bare_s = perf_counter() - begun
    print(f"expert motions alone, one process: {60 * DEMOS / bare_s:.0f} a minute")
    for size_px in (96, 256):
        begun = perf_counter()
        collect("factors", {"pairs": ["color,object"], "demos": DEMOS}, folder / str(size_px), 0, size_px, 1)
        took_s = perf_counter() - begun
        print(
            f"demonstrations with two {size_px} px cameras, encoded, one worker (its start included): "
            f"{60 * DEMOS / took_s:.0f} a minute, {took_s / bare_s:.2f} times the motions alone"
        )


def rollouts(folder: Path) -> None:
    """Print the time to judge and to report 4,000 rollouts, beside reading their files."""
    options = {"pairs": ["color,object"], "rollouts": BASE, "in_distribution": 0, "empty": 0}
    policy = PolicyEntry("planted:color>object>spatial>verb>size@0.3", "planted")
    run(RunSpec("factors", options, (policy,)), folder, 2)
    source = RunFolder.open(folder)
    real = source.rollout
    originals = [real(row) for row in source.rows()]
    with RunFolder.open(folder, source.spec) as driver:
        for i in range(ROLLOUTS - len(originals)):
            original = originals[i % len(originals)]
            row = replace(original.row, id=f"{original.row.id}{i:05d}")
            driver.write_rollout(row.id, original.trajectory)
            driver.append(row)
    begun = perf_counter()
    for row in source.rows():
        parquet.read_table(folder / "rollouts" / row.id / "trajectory.parquet")
    reading_s = perf_counter() - begun
    begun = perf_counter()
    judge(folder)
    judging_s = perf_counter() - begun
    begun = perf_counter()
    report(folder, videos=False)
    reporting_s = perf_counter() - begun
    print(f"reading {ROLLOUTS} rollouts' files alone: {reading_s:.1f} s")
    print(f"judging {ROLLOUTS} rollouts: {judging_s:.1f} s, {judging_s / reading_s:.2f} times reading them")
    print(f"report of {ROLLOUTS} rollouts: {reporting_s:.1f} s")


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        demonstrations(Path(folder) / "data")
        rollouts(Path(folder) / "run")


if __name__ == "__main__":
    main()
