"""Kills ``heedful run`` and ``heedful collect`` at random instants and looks at what they leave.

    OMP_NUM_THREADS=1 python tests/chaos/kill_at_random.py [--kills 200] [--collect-kills 20] [--seed 0]

A small run is begun, killed with SIGKILL (the whole process tree; every fifth time the driver alone,
whose workers must then end by themselves) and begun again until it finishes; then it is compared with
one that nobody interrupted, and the next one begins, until there were enough kills. The same for a
dataset. Leaves with 1 and a line for every fault if there is one.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from what_is_left import collect_faults, run_faults

POLICY = "planted:color>object>spatial>verb>size@0.3"
EPISODES, DEMOS = 48, 6
ASKED = ("--pair", "color,object", "--workers", "2")
RUN = ("run", "factors", "--policy", POLICY, "--rollouts", str(EPISODES), "--in-distribution", "0",
       "--empty", "0", *ASKED)  # fmt: skip
COLLECT = ("collect", "factors", "--demos", str(DEMOS), "--image-size", "32", *ASKED)
LIMIT_S = 300.0
_DRIVER_ALONE = 5


@dataclass(frozen=True)
class Job:
    """A command that is killed, and how what it left is compared with what it should have left."""

    command: tuple[str, ...]
    faults: Callable[[Path, Path], list[str]]


RUNNING, COLLECTING = Job(RUN, run_faults), Job(COLLECT, collect_faults)


@dataclass
class Outcome:
    """What was done and found.

    Attributes:
        kills: SIGKILLs that met a process at work.
        finished: Runs (or datasets) that were killed at least once, finished and compared.
        faults: One line each.
    """

    kills: int = 0
    finished: int = 0
    faults: tuple[str, ...] = ()


def chaos(job: Job, folder: Path, kills: int, rng: np.random.Generator) -> Outcome:
    """Kill ``job`` ``kills`` times in ``folder`` and return what was found."""
    whole = folder / "whole"
    begun = time.monotonic()
    _wait(_begin(job, whole, folder), LIMIT_S)
    span_s = 0.7 * (time.monotonic() - begun)  # so that no folder finishes before its first kill
    outcome = Outcome()
    number = 0
    while outcome.kills < kills and not outcome.faults:
        number += 1
        out = folder / f"killed{number}"
        killed = 0
        while True:
            process = _begin(job, out, folder)
            enough = outcome.kills + killed >= kills
            code = _wait(process, LIMIT_S if enough else rng.uniform(0, span_s))
            if code is not None:
                break
            (_kill_driver if killed % _DRIVER_ALONE == 4 else _kill_tree)(process)
            killed += 1
        outcome.kills += killed
        outcome.finished += killed > 0
        if code != 0:
            said = (folder / "stderr").read_text().strip().splitlines()[-1:]
            outcome.faults += (f"{out.name}: resuming after {killed} kills left with {code}: {said}",)
        else:
            outcome.faults += tuple(f"{out.name}: {fault}" for fault in job.faults(out, whole))
    return outcome


def _begin(job: Job, out: Path, folder: Path) -> subprocess.Popen[bytes]:
    with (folder / "stderr").open("wb") as said:
        return subprocess.Popen(
            [sys.executable, "-m", "heedful", *job.command, "--out", str(out)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )


def _wait(process: subprocess.Popen[bytes], limit_s: float) -> int | None:
    """Return the exit code, or ``None`` when the process is at work still after ``limit_s``."""
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None


def _kill_tree(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that descend from it; the driver first, so that it replaces nobody."""
    family = [process.pid, *_descendants(process.pid)]
    for pid in family:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue  # it ended by itself in between
    process.wait()


def _kill_driver(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def _descendants(root: int) -> list[int]:
    """Return the process numbers of everything that ``root`` started, directly or not."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            after_name = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended while the list was made
        children.setdefault(int(after_name[1]), []).append(int(entry.name))
    found, waiting = [], [root]
    while waiting:
        new = children.get(waiting.pop(), [])
        found += new
        waiting += new
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--collect-kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    rng = np.random.default_rng(given.seed)
    bad = False
    for name, job, kills in (("run", RUNNING, given.kills), ("collect", COLLECTING, given.collect_kills)):
        with tempfile.TemporaryDirectory(prefix="heedful-chaos-") as folder:
            begun = time.monotonic()
            outcome = chaos(job, Path(folder), kills, rng)
        sys.stdout.write(
            f"{name}: killed {outcome.kills} times in {outcome.finished} folders, all of them finished "
            f"afterwards; {len(outcome.faults)} faults; {time.monotonic() - begun:.0f} s\n"
        )
        sys.stdout.writelines(f"  {fault}\n" for fault in outcome.faults)
        bad = bad or bool(outcome.faults)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
