"""How much the scene leaves open about the task: the conditional entropy of tasks given scenes.

H(T|S) = - sum_s p(s) sum_t p(t|s) log2 p(t|s), over the episodes of a dataset (RoboFollow,
arXiv 2609.25636). A policy trained on episodes with H(T|S) = 0 can tell the task from the picture
alone, so that nothing in its training rewards reading the instruction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum, log, log2


@dataclass(frozen=True)
class SceneTasks:
    """One scene.

    Attributes:
        scene: Its label.
        tasks: Task -> episodes of it, most episodes first.
        episodes: All of them.
        bits: Entropy of the tasks in this scene.
    """

    scene: str
    tasks: Mapping[str, int]
    episodes: int
    bits: float


@dataclass(frozen=True)
class SceneEntropy:
    """The conditional entropy of tasks given scenes, with what is behind it.

    Attributes:
        bits: H(T|S), from 0 to ``task_bits``.
        task_bits: H(T), the entropy of the tasks without looking at the scene, at most
            log2 of the number of tasks. The scene tells ``task_bits - bits`` of it.
        scenes: Every scene, largest entropy first.
        tasks: Different tasks.
        episodes: All of them.
        bias_bits: By about how much ``bits`` is too low as an estimate, if the episodes are a
            random sample of a larger collection (Miller and Madow 1955): sum_s (K_s - 1) / (2 N ln 2).
            It counts only tasks that were seen, so it is itself too low where scenes have few episodes.
    """

    bits: float
    task_bits: float
    scenes: tuple[SceneTasks, ...]
    tasks: int
    episodes: int
    bias_bits: float

    @property
    def effective_tasks(self) -> float:
        """2^H(T|S): as many equally frequent tasks in every scene leave as much open."""
        return float(2**self.bits)

    @property
    def single_episodes(self) -> int:
        """Scenes with one episode: there is nothing in them that a task could differ from."""
        return sum(scene.episodes == 1 for scene in self.scenes)


def entropy_bits(counts: Iterable[int]) -> float:
    """Return the entropy of the shares that ``counts`` are, in bits.

    >>> entropy_bits([5, 5])
    1.0
    """
    kept = [count for count in counts if count]
    total = sum(kept)
    # log2(total / count) is exactly 0 where there is one kind only; a difference need not be.
    # fsum is exact, so that the order of the episodes cannot matter either.
    return fsum(count / total * log2(total / count) for count in kept)


def scene_entropy(episodes: Iterable[tuple[str, str]]) -> SceneEntropy:
    """Return the scene entropy of ``episodes``.

    Args:
        episodes: Scene and task of each, at least one.

    Raises:
        ValueError: There are no episodes.
    """
    found: dict[str, Counter[str]] = {}
    for scene, task in episodes:
        found.setdefault(scene, Counter())[task] += 1
    if not found:
        raise ValueError("the entropy of no episodes is not defined")
    scenes = [
        SceneTasks(
            scene,
            dict(sorted(tasks.items(), key=lambda item: (-item[1], item[0]))),
            tasks.total(),
            entropy_bits(tasks.values()),
        )
        for scene, tasks in found.items()
    ]
    scenes.sort(key=lambda one: (-one.bits, -one.episodes, one.scene))
    total = sum(one.episodes for one in scenes)
    tasks = sum(found.values(), Counter[str]())
    return SceneEntropy(
        bits=fsum(one.episodes / total * one.bits for one in scenes),
        task_bits=entropy_bits(tasks.values()),
        scenes=tuple(scenes),
        tasks=len(tasks),
        episodes=total,
        bias_bits=sum(len(one.tasks) - 1 for one in scenes) / (2 * total * log(2)),
    )
