"""Failures near the successful corridor (execution) and far from it (planning), counted.

A failure whose path stays as close to the mean successful path as successes do went the right
way and missed: near. One that leaves the corridor went elsewhere: far (arXiv 2603.28301). The
corridor belongs to one policy and one task: policies move differently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heedful.metrics.bootstrap import clustered_rate
from heedful.metrics.paths import POINTS, THRESHOLDS, Corridor, Frame, corridor
from heedful.metrics.rates import wilson
from heedful.spec.end_effector import NO_WORDS, EndEffectorPath, RecordedPaths
from heedful.spec.progress import Progress, silent
from heedful.spec.rollout import Estimate

CONTROLS = ("original", "in_distribution", NO_WORDS)
"""Arms that are counted by themselves and not in a policy's total, where it has other arms."""
LEAST_WIDTH_M: Mapping[Frame, float] = {"world": 0.0, "target": 0.03}
"""Frame -> least width where none is asked for. In the world's frame: none, as published. Moved into
one scene, the successes of a steady policy lie within millimetres of each other; 3 cm is half an
object: a hand that stays within it of the right path is at the right object."""

_SAID_EVERY = 200
_SAME_PLACE_M = 1e-3


@dataclass(frozen=True)
class Method:
    """How near and far are told apart.

    Attributes:
        frame: See ``paths.corridor``.
        points: K, points a path is resampled to.
        least_successes: Tasks with fewer define no corridor; their failures are left out.
        leave_one_out: See ``paths.corridor``.
        least_width_m: See ``paths.corridor``.
    """

    frame: Frame
    points: int = POINTS
    least_successes: int = 5
    leave_one_out: bool = False
    least_width_m: float = 0.0


@dataclass(frozen=True, eq=False)
class Failure:
    """One failed episode against its task's corridor.

    Attributes:
        path: The episode.
        distance_m: From the mean successful path.
        near: Threshold -> whether it is within.
    """

    path: EndEffectorPath
    distance_m: float
    near: Mapping[str, bool]


@dataclass(frozen=True, eq=False)
class Task:
    """One task of one policy.

    Attributes:
        name: The task.
        successes: Its successful episodes, those without words left out.
        corridor: ``None`` with too few of them.
        failures: Classified; empty without a corridor.
        unclassified: Failures left out for want of a corridor, those without words not counted.
    """

    name: str
    successes: tuple[EndEffectorPath, ...]
    corridor: Corridor | None
    failures: tuple[Failure, ...]
    unclassified: int


@dataclass(frozen=True)
class Share:
    """How many failures are far at one threshold.

    Attributes:
        near, far: Counts.
        rate: far / (near + far), interval over tasks where there are several, else Wilson.
        naive: The same with Wilson's interval, as if episodes were independent.
    """

    near: int
    far: int
    rate: Estimate
    naive: Estimate


@dataclass(frozen=True)
class Group:
    """Episodes counted together.

    Attributes:
        name: Name of the arm, cell, category or task; empty for a whole policy.
        successes, failures: Judged episodes.
        unclassified: Failures among them whose task has no corridor.
        shares: Threshold -> how the other failures divide.
    """

    name: str
    successes: int
    failures: int
    unclassified: int
    shares: Mapping[str, Share]


@dataclass(frozen=True, eq=False)
class PolicyFailures:
    """Everything about one policy.

    Attributes:
        name: The policy.
        total: Its episodes of ``arms_counted``.
        arms_counted: The arms in ``total``, ``cells`` and ``categories``.
        arms, cells, categories: The same by name; empty where episodes name none.
        tasks: Every task, in the order met.
        left_out: Reason -> episodes that have no judged path.
    """

    name: str
    total: Group
    arms_counted: tuple[str, ...]
    arms: tuple[Group, ...]
    cells: tuple[Group, ...]
    categories: tuple[Group, ...]
    tasks: tuple[Task, ...]
    left_out: Mapping[str, int]


def common_frame(paths: Iterable[EndEffectorPath]) -> Frame:
    """Return ``target`` where a task's target stands elsewhere from episode to episode, else ``world``.

    Elsewhere is by more than 1 mm. ``world`` where any episode does not say where it stood.
    """
    first: dict[str, EndEffectorPath] = {}
    moved = False
    for path in paths:
        if path.target_m is None:
            return "world"
        start = first.setdefault(path.task, path).target_m
        moved = moved or start is None or bool(np.abs(path.target_m - start).max() > _SAME_PLACE_M)
    return "target" if moved else "world"


def path_failures(
    recorded: RecordedPaths, method: Method, rng: np.random.Generator, progress: Progress = silent
) -> tuple[PolicyFailures, ...]:
    """Return near and far failures of every policy, in the order met.

    Args:
        recorded: Judged episodes; with ``method.frame`` "target" each says its target's place.
        method: How near and far are told apart.
        rng: Source of the intervals over tasks.
        progress: Told every few episodes.
    """
    by_policy: dict[str, list[EndEffectorPath]] = {name: [] for name in recorded.left_out}
    for path in recorded.paths:
        by_policy.setdefault(path.policy, []).append(path)
    done, found = 0, []
    for name, paths in by_policy.items():
        by_task: dict[str, list[EndEffectorPath]] = {}
        for path in paths:
            by_task.setdefault(path.task, []).append(path)
        tasks = []
        for task, of_task in by_task.items():
            tasks.append(_task(task, of_task, method))
            before, done = done, done + len(of_task)
            if done // _SAID_EVERY > before // _SAID_EVERY or done == len(recorded.paths):
                progress("compare paths", done, len(recorded.paths))
        found.append(_policy(name, paths, tasks, recorded.left_out.get(name, {}), rng))
    return tuple(found)


def _task(name: str, paths: Sequence[EndEffectorPath], method: Method) -> Task:
    worded = [p for p in paths if p.arm != NO_WORDS]
    successes = tuple(p for p in worded if p.success)
    if len(successes) < max(method.least_successes, 2):
        return Task(name, successes, None, (), sum(not p.success for p in worded))
    around = corridor(
        successes,
        method.frame,
        points=method.points,
        leave_one_out=method.leave_one_out,
        least_width_m=method.least_width_m,
    )
    failures = []
    for path in paths:
        if not path.success:
            distance = around.distance_m(path)
            failures.append(Failure(path, distance, around.near(distance)))
    return Task(name, successes, around, tuple(failures), 0)


def _policy(
    name: str,
    paths: Sequence[EndEffectorPath],
    tasks: Sequence[Task],
    left_out: Mapping[str, int],
    rng: np.random.Generator,
) -> PolicyFailures:
    classified = {(f.path.task, f.path.episode): f for task in tasks for f in task.failures}
    arms = tuple(dict.fromkeys(p.arm for p in paths))
    counted = tuple(a for a in arms if a not in CONTROLS) or tuple(a for a in arms if a != NO_WORDS)
    asked = [p for p in paths if p.arm in counted]
    seed = int(rng.integers(2**32))  # the same for all groups: equal episodes give equal intervals

    def group(name: str, members: Sequence[EndEffectorPath]) -> Group:
        return _group(name, members, classified, np.random.default_rng(seed))

    def groups(names: Iterable[str], column: str, among: Sequence[EndEffectorPath]) -> tuple[Group, ...]:
        return tuple(group(n, [p for p in among if getattr(p, column) == n]) for n in names if n)

    return PolicyFailures(
        name=name,
        total=group("", asked),
        arms_counted=counted,
        arms=groups(arms, "arm", paths),
        cells=groups(dict.fromkeys(p.cell for p in asked), "cell", asked),
        categories=groups(dict.fromkeys(p.category for p in asked), "category", asked),
        tasks=tuple(tasks),
        left_out=dict(left_out),
    )


def _group(
    name: str,
    members: Sequence[EndEffectorPath],
    classified: Mapping[tuple[str, str], Failure],
    rng: np.random.Generator,
) -> Group:
    failed = [p for p in members if not p.success]
    known = [classified[key] for p in failed if (key := (p.task, p.episode)) in classified]
    shares = {}
    for threshold in THRESHOLDS:
        far = Counter(f.path.task for f in known if not f.near[threshold])
        all_ = Counter(f.path.task for f in known)
        naive = wilson(far.total(), len(known))
        rate = naive
        if len(all_) > 1:
            tasks = list(all_)
            rate = clustered_rate(
                [far[t] for t in tasks], [all_[t] for t in tasks], tasks, rng, named="tasks"
            )
        shares[threshold] = Share(len(known) - far.total(), far.total(), rate, naive)
    return Group(name, len(members) - len(failed), len(failed), len(failed) - len(known), shares)
