"""Episodes a second with one worker and with two, without rendering and with it.

    OMP_NUM_THREADS=1 python benchmarks/workers.py [EPISODES]

On an idle machine with two cores, two workers should be at least 1.8 times as fast as one. Workers
are started, have loaded everything and have run a few episodes before the clock starts. Rows of
one and of two workers take turns and the best of several rounds is kept; with anything else
running on the machine the ratio says little, and so it says so.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter

from looking import episode

from heedful.rollouts.pool import Crew, Pool
from heedful.rollouts.run import run
from heedful.rollouts.runner import EpisodeRunner
from heedful.rollouts.watch import LIMITS
from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.run import RunSpec
from heedful.store.run_folder import RunFolder

ROUNDS, WARM = 3, 24
TARGET = 1.8
POLICIES = {
    "without rendering": "python:looking:make:0",
    "two 128 px cameras every 10th step": "python:looking:make:10",
}


class Race:
    """A run folder and its workers, warm; every round runs new episodes."""

    def __init__(self, folder: RunFolder, crew: Crew[object, object], workers: int) -> None:
        self._folder, self._crew, self._workers = folder, crew, workers
        self._cases: list[Case] = []
        self.best = 0.0

    def round(self, count: int) -> None:
        """Run ``count`` more episodes and keep the speed, episodes a second, if it is the best."""
        entry = self._folder.spec.policies[0]
        new = [episode(len(self._cases) + i).case for i in range(count)]
        self._cases += new
        begun = perf_counter()
        counts = run(self._folder, [Episode(case, entry) for case in new], self._workers, crew=self._crew)
        took_s = perf_counter() - begun
        assert counts.finished == count, counts
        self.best = max(self.best, count / took_s)

    def warm(self) -> None:
        """Run episodes until every worker is there; these do not count."""
        while not (len(self._crew.team) == self._workers and all(w.ready for w in self._crew.team)):
            self.round(WARM)
        self.round(WARM)
        self.best = 0.0


@contextmanager
def race(ref: str, workers: int, path: Path) -> Iterator[Race]:
    """Give a race with ``workers`` for policy ``ref`` in a folder at ``path``."""
    spec = RunSpec("looking", {}, (PolicyEntry(ref, "looking"),))
    runner = EpisodeRunner(str(path), spec.world, {}, LIMITS)
    with Pool(workers).crew(runner) as crew, RunFolder.open(path, spec) as folder:
        started = Race(folder, crew, workers)
        started.warm()
        yield started


def main(count: int) -> None:
    """Print both ratios."""
    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    if load > 0.3 or cores < 2:
        print(f"{cores} cores, load {load:.1f} before it began: not idle, the ratios mean little")
    for name, ref in POLICIES.items():
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            races = {
                workers: stack.enter_context(race(ref, workers, Path(folder) / str(workers)))
                for workers in (1, 2)
            }
            for _ in range(ROUNDS):
                for workers, one in races.items():
                    one.round(count * workers)
            speeds = {workers: one.best for workers, one in races.items()}
        ratio = speeds[2] / speeds[1]
        print(
            f"{name:36}{speeds[1]:>6.1f} episodes/s with one worker, {speeds[2]:.1f} with two: "
            f"{ratio:.2f} times ({'reaches' if ratio >= TARGET else 'below'} {TARGET})"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
