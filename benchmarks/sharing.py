"""Two workers that share a policy against two with a copy each; image memory against pickling.

    OMP_NUM_THREADS=1 python benchmarks/sharing.py [REF]

REF is a policy that can be shared, such as reference:policies/co. Without it, and besides it, a
stand-in for a large network is run: 256 MB of weights that every call must read, which is what makes
one call for two workers nearly as cheap as a call for one. Memory is the proportional set size of all
worker processes and of the one that holds the policies. Rounds take turns and the best of each is kept.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import connection, reduction
from pathlib import Path
from time import perf_counter

import numpy as np
from looking import CAMERAS, SCENE
from numpy.typing import NDArray

from heedful.rollouts.pool import Pool
from heedful.rollouts.run import run
from heedful.rollouts.runner import EpisodeRunner
from heedful.rollouts.shared.images import ImageMemory
from heedful.rollouts.shared.site import shared_pool
from heedful.rollouts.watch import LIMITS
from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.contract import Observation, PolicyContract
from heedful.spec.grammar import Instruction
from heedful.spec.plugins import load as load_plugin
from heedful.spec.run import RunSpec
from heedful.spec.seams import Start
from heedful.store.run_folder import RunFolder

WORKERS, WARM, COUNT, ROUNDS, TRANSFERS = 2, 8, 24, 3, 2000
STAND_IN = "python:sharing:StandIn"
WIDTH, LAYERS = 4096, 4


class StandIn:
    """As many weights as a small vision-language-action model, and no idea."""

    contract = PolicyContract(CAMERAS, "ee_absolute", 20.0)

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self._weights = [
            rng.standard_normal((WIDTH, WIDTH), dtype=np.float32) / WIDTH**0.5 for _ in range(LAYERS)
        ]
        self._session: object = None

    def begin(self, start: Start) -> tuple[object, str]:
        """Begin an episode; there is nothing to keep."""
        return None, start.instruction

    def reset(self, start: Start) -> str:
        """Begin an episode."""
        return self.begin(start)[1]

    def act(self, observation: Observation) -> NDArray[np.float64]:
        """Return the next moves [10, 7]."""
        return self.act_many([None], [observation])[0]

    def act_many(
        self, sessions: Sequence[object], observations: Sequence[Observation]
    ) -> list[NDArray[np.float64]]:
        """Return moves [10, 7] that the weights bend a little."""
        seen = np.stack([o.images_hwc_u8["agent"][::2, ::2].ravel()[:WIDTH] for o in observations])
        values = seen.astype(np.float32) / 255
        for weights in self._weights:
            values = np.tanh(values @ weights)
        chunks = []
        for observation, bend in zip(observations, values[:, 0], strict=True):
            t = (observation.step + np.arange(10)) / 20
            actions = np.zeros((10, 7))
            actions[:, :3] = np.stack([0.45 + 0.1 * np.sin(t), 0.1 * np.sin(2 * t), 0.25 + 0 * t], axis=1)
            actions[:, 2] += 0.01 * bend
            chunks.append(actions)
        return chunks


@dataclass
class Found:
    """Episodes a second and CPU seconds an episode, the best of the rounds; MB of memory, the most."""

    speed: float = 0.0
    cpu_s: float = float("inf")
    memory_mb: float = 0.0


def asked(ref: str, count: int) -> list[Episode]:
    """Return ``count`` episodes for the policy ``ref``."""
    entry = PolicyEntry(ref, "policy")
    if ref == STAND_IN:
        cases = [
            Case(f"wave/{i}", "looking", "", Instruction("wave"), SCENE, max_steps=60) for i in range(count)
        ]
    else:
        suite = load_plugin("heedful.suites", "factors")()
        given = {"pairs": "color,object", "rollouts": count, "in_distribution": 0, "empty": 0}
        cases = suite.cases(suite.options(given))
    return [Episode(case, entry) for case in cases]


@contextmanager
def pools(shared: bool) -> Iterator[Pool]:
    """Give workers with own copies, or such that share."""
    if shared:
        with shared_pool(WORKERS) as pool:
            yield pool
    else:
        yield Pool(WORKERS)


def measure(ref: str, shared: bool, found: Found) -> None:
    """Run episodes with warm workers and keep what is better in ``found``."""
    spec = RunSpec("looking", {}, (PolicyEntry(ref, "policy"),))
    with tempfile.TemporaryDirectory() as folder, pools(shared) as pool:
        runner = EpisodeRunner(folder, spec.world, {}, LIMITS)
        with pool.crew(runner) as crew, RunFolder.open(folder, spec) as opened:
            left = asked(ref, 10 * WARM + COUNT)
            while not (len(crew.team) == WORKERS and all(worker.ready for worker in crew.team)):
                first, left = left[:WARM], left[WARM:]
                run(opened, first, crew=crew)
            first, left = left[:WARM], left[WARM:]
            run(opened, first, crew=crew)
            pids = [child.pid for child in multiprocessing.active_children()]
            begun, before = perf_counter(), sum(map(cpu_s, pids))
            counts = run(opened, left[:COUNT], crew=crew)
            found.speed = max(found.speed, COUNT / (perf_counter() - begun))
            found.cpu_s = min(found.cpu_s, (sum(map(cpu_s, pids)) - before) / COUNT)
            assert counts.finished == COUNT, counts
            found.memory_mb = max(found.memory_mb, sum(map(proportional_mb, pids)))


def cpu_s(pid: int | None) -> float:
    """Return the CPU seconds that a process has used."""
    numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def proportional_mb(pid: int | None) -> float:
    """Return the proportional set size of a process: memory that n processes map counts 1/n."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def receive(pipe: connection.Connection, by_memory: bool) -> None:
    """Take observations in, and say so each time, until ``None`` comes."""
    memory = ImageMemory(reduction.recv_handle(pipe)) if by_memory else None
    while (message := pickle.loads(pipe.recv_bytes())) is not None:
        if memory is None:
            assert message.images_hwc_u8["agent"].shape == (256, 256, 3)
        else:
            observation, layout = message
            replace(observation, images_hwc_u8=memory.read(layout))
        pipe.send_bytes(b"-")
    pipe.send_bytes(b"-")


def transfer_us(by_memory: bool) -> float:
    """Return the time for one observation with two 256 px images to another process and a word back."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    other = context.Process(target=receive, args=(theirs, by_memory), daemon=True)
    other.start()
    rng = np.random.default_rng(0)
    images = {name: rng.integers(0, 256, (256, 256, 3), dtype=np.uint8) for name in ("agent", "wrist")}
    observation = Observation(images, np.zeros((1, 8)), np.zeros((1, 8)), 0)
    memory = ImageMemory.make(sum(image.size for image in images.values()))
    if by_memory:
        reduction.send_handle(ours, memory.descriptor, other.pid or 0)

    def send() -> None:
        message: object = observation
        if by_memory:
            message = replace(observation, images_hwc_u8={}), memory.write(images)
        ours.send_bytes(pickle.dumps(message))
        ours.recv_bytes()

    for _ in range(TRANSFERS // 10):
        send()
    best = float("inf")
    for _ in range(TRANSFERS // 20):  # few at a time: with luck nothing else runs meanwhile
        begun = perf_counter()
        for _ in range(20):
            send()
        best = min(best, (perf_counter() - begun) / 20)
    ours.send_bytes(pickle.dumps(None))
    ours.recv_bytes()
    other.join()
    return best * 1e6


def main(refs: Sequence[str]) -> None:
    """Print the ratios."""
    load = os.getloadavg()[0]
    if load > 0.3:
        print(f"load {load:.1f} before it began: not idle, the times mean little")
    pickled, shared = transfer_us(False), transfer_us(True)
    print(
        f"an observation with two 256 px images: {pickled:.0f} us pickled, {shared:.0f} us by shared memory: "
        f"{pickled / shared:.1f} times"
    )
    for ref in (*refs, STAND_IN):
        results = {False: Found(), True: Found()}
        for _ in range(ROUNDS):
            for shares, found in results.items():
                measure(ref, shares, found)
        own, one = results[False], results[True]
        name = f"stand-in of {LAYERS * WIDTH**2 * 4 / 2**20:.0f} MB" if ref == STAND_IN else ref
        print(f"{name}, {WORKERS} workers:")
        for words, found in (("own copies", own), ("shared", one)):
            print(
                f"  {words:12}{found.speed:6.2f} episodes/s, {found.cpu_s:6.3f} CPU s an episode, "
                f"{found.memory_mb:6.0f} MB"
            )
        ratios = one.speed / own.speed, one.cpu_s / own.cpu_s, one.memory_mb / own.memory_mb
        print("  shared: {:.2f} times the speed, {:.2f} the CPU time, {:.2f} the memory".format(*ratios))


if __name__ == "__main__":
    main(sys.argv[1:])
