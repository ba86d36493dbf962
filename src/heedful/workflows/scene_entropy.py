"""How much the scenes of LeRobot datasets leave open about the task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heedful.metrics.scene_entropy import SceneEntropy, scene_entropy
from heedful.spec.errors import UserError

_NOTED_BIAS_BITS = 0.05


@dataclass(frozen=True)
class DatasetEntropy:
    """The scene entropy of one dataset.

    Attributes:
        path: Its folder.
        label: The column that says which scene an episode shows.
        where: What it is a column of.
        entropy: The entropy, scene by scene.
        remarks: Sentences on how to read it, where there is more to say.
    """

    path: Path
    label: str
    where: str
    entropy: SceneEntropy
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class SceneEntropies:
    """The scene entropies of datasets.

    Attributes:
        datasets: In the order in which they were named.
        mean_bits: Mean of the datasets, each counted once.
        by_episodes_bits: Mean in which each counts by its episodes: the entropy of all of them
            together, the scenes of different datasets counted as different whatever their labels.
    """

    datasets: tuple[DatasetEntropy, ...]
    mean_bits: float
    by_episodes_bits: float


def scene_entropies(datasets: Sequence[Path], label: str | None) -> SceneEntropies:
    """Return the conditional entropy of tasks given scenes, of each dataset and of all.

    It is a property of these episodes, not an estimate, so it has no interval. The task of an
    episode is its task string; several of them together are one task of their own.

    Args:
        datasets: LeRobot v3.0 datasets, whoever wrote them.
        label: A column that is the same in all frames of an episode, a column of
            ``meta/episodes``, or a key of the notes of a dataset that heedful wrote.

    Raises:
        UserError: No dataset there, no such label or none named (lists those that would do),
            a label that changes inside an episode or is the task itself, a dataset named twice,
            or a damaged file.
    """
    from heedful.store.datasets.labels import read_labels, tasks_of, usable
    from heedful.store.datasets.meta import read_meta

    _refuse_twice(datasets)
    metas = [read_meta(path) for path in datasets]
    if label is None:
        could = "; ".join(f"{', '.join(names)} ({where})" for where, names in usable(metas[0]).items())
        raise UserError(
            f"Say with --scene-label which label of {metas[0].root} tells the scene of an episode. "
            + (f"Every episode has one value of: {could}." if could else "It has none that groups episodes.")
        )
    found = []
    for meta in metas:
        if not meta.episodes:
            raise UserError(f"The dataset {meta.root} has no episodes.")
        labels = read_labels(meta, label)
        entropy = scene_entropy(zip(labels.values, tasks_of(meta.episodes), strict=True))
        several = sum(len(set(episode["tasks"])) > 1 for episode in meta.episodes)
        remarks = _remarks(label, entropy, several)
        found.append(DatasetEntropy(meta.root, label, labels.where, entropy, tuple(remarks)))
    total = sum(one.entropy.episodes for one in found)
    return SceneEntropies(
        datasets=tuple(found),
        mean_bits=sum(one.entropy.bits for one in found) / len(found),
        by_episodes_bits=sum(one.entropy.bits * one.entropy.episodes for one in found) / total,
    )


def _refuse_twice(datasets: Sequence[Path]) -> None:
    first: dict[Path, Path] = {}
    for path in datasets:
        earlier = first.setdefault(path.resolve(), path)
        if earlier is not path:
            also = "" if str(earlier) == str(path) else f", also as {earlier}"
            raise UserError(f"The dataset {path} is named twice{also}; its episodes would count double.")


def reading(entropy: SceneEntropy) -> str:
    """Return what ``entropy`` means, in one or two sentences; nothing where it means nothing."""
    if entropy.tasks == 1:
        return "All episodes have the same task: there is nothing that words could tell apart."
    if len(entropy.scenes) == entropy.episodes:
        return ""
    if entropy.bits == 0:
        return (
            "The scene alone tells the task: a policy can learn all of these episodes without reading "
            "a word of the instruction."
        )
    open_tasks = f"{entropy.effective_tasks:.1f} equally frequent tasks"
    if len(entropy.scenes) == 1:
        return (
            f"All episodes carry the same scene label, so it says nothing of the task: {open_tasks} are "
            "left for the words to tell apart, or for what differs inside that scene."
        )
    told = entropy.task_bits - entropy.bits
    if told < 1e-9:
        return f"The scene says nothing of the task: {open_tasks} are left for the words to tell apart."
    return (
        f"In its scene an episode could be one of {open_tasks}: only the words tell which. "
        f"Of {entropy.task_bits:.3f} bits that tell all {entropy.tasks} tasks apart, the scene gives "
        f"{told:.3f} and the words have to give the rest."
    )


def _is_one_to_one(entropy: SceneEntropy) -> bool:
    """Return whether several scenes and as many tasks tell each other."""
    return entropy.bits == 0 and 1 < entropy.tasks == len(entropy.scenes)


def _remarks(label: str, entropy: SceneEntropy, several: int) -> list[str]:
    found = []
    single, scenes = entropy.single_episodes, len(entropy.scenes)
    if scenes == entropy.episodes:
        found.append(
            f"Every value of {label!r} occurs once, so the entropy is 0 by construction and says nothing: "
            "name a label that the episodes of one scene share."
        )
    elif _is_one_to_one(entropy):
        found.append(
            f"Every value of {label!r} belongs to one task and every task to one value, so it may be the "
            "task by another name; 0 bits then say nothing. Make sure that it tells the scene."
        )
    if single and single < entropy.episodes:
        found.append(
            f"{single} of {scenes} scenes {'has' if single == 1 else 'have'} a single episode; "
            "there the entropy is 0 whatever the scene allows."
        )
    if entropy.bias_bits > _NOTED_BIAS_BITS:
        found.append(
            f"If these episodes are a random sample of a larger collection, {entropy.bits:.3f} bits are too "
            f"low for it, by about {entropy.bias_bits:.2f} bits or more (Miller-Madow): its scenes may have "
            "tasks that were not drawn."
        )
    wordless = sum(scene.tasks.get("", 0) for scene in entropy.scenes)
    if wordless:
        found.append(
            f"{wordless} of {entropy.episodes} episodes {'has' if wordless == 1 else 'have'} no words, "
            "which counts as a task of its own."
        )
    if several:
        found.append(
            f"{several} of {entropy.episodes} episodes {'has' if several == 1 else 'have'} several task "
            "strings; each such combination "
            "counts as a task of its own."
        )
    return found
