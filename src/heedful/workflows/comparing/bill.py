"""What a comparison will cost, worked out from its plans before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heedful.spec.plan import Plan
from heedful.workflows.collecting_plan import collecting_s, dataset_bytes
from heedful.workflows.comparing.layout import Layout

STEP_S, EPISODE_S = 0.107, 0.1
"""CPU seconds of an optimizer step and an episode (docs/results/speed.md)."""

EPISODE_BYTES, POLICY_BYTES = 18_500, 1_000_000
"""Bytes of a recorded episode and of a policy; measured."""


@dataclass(frozen=True)
class Sizes:
    """What is counted before it is priced.

    Attributes:
        demonstrations: Different ones, each collected once.
        asked_demonstrations: Those of all plans together.
        stored_demonstrations: Those of all datasets together.
        datasets, trainings, episodes: How many.
        steps: Optimizer steps a policy; ``None``: the recipe's own number.
        image_size_px: Side of the demonstrations' images.
    """

    demonstrations: int
    asked_demonstrations: int
    stored_demonstrations: int
    datasets: int
    trainings: int
    episodes: int
    steps: int | None
    image_size_px: int


@dataclass(frozen=True)
class Bill:
    """What is to be done, from the beginning.

    Attributes:
        demonstrations: Different ones, after sharing between strategies, budgets and seeds.
        asked_demonstrations: The sum over all plans.
        datasets: Different datasets.
        trainings: Policies to train.
        steps: Optimizer steps a policy.
        episodes: Rollouts of all policies, controls included.
        collect_min, train_min, run_min: Rough minutes with the given workers.
        disk_mb: Rough megabytes.
    """

    demonstrations: int
    asked_demonstrations: int
    datasets: int
    trainings: int
    steps: int
    episodes: int
    collect_min: float
    train_min: float
    run_min: float
    disk_mb: float

    @property
    def minutes(self) -> float:
        """Return the rough minutes of the whole."""
        return self.collect_min + self.train_min + self.run_min


def bill(layout: Layout, workers: int = 2) -> Bill:
    """Return what ``layout`` will cost with ``workers`` processes on as many cores.

    Demonstrations, datasets, trainings and episodes are exact; minutes and megabytes are not.
    """
    request = layout.request
    plans = [lesson.plan for lesson in layout.lessons]
    datasets, trainings = layout.datasets(), len(layout.jobs())
    return priced(
        Sizes(
            demonstrations=len(distinct(plans)),
            asked_demonstrations=sum(len(plan.rows) for plan in plans),
            stored_demonstrations=sum(len(plan.rows) for plan in datasets.values()),
            datasets=len(datasets),
            trainings=trainings,
            steps=request.steps,
            episodes=trainings * episodes_a_policy(layout),
            image_size_px=request.image_size_px,
        ),
        workers,
    )


def priced(sizes: Sizes, workers: int) -> Bill:
    """Return the bill of ``sizes`` with ``workers`` processes on as many cores."""
    from heedful.policies.reference import TrainingConfig

    steps = TrainingConfig.steps if sizes.steps is None else sizes.steps
    kept = sizes.demonstrations + sizes.stored_demonstrations
    size = kept * dataset_bytes(sizes.image_size_px)
    size += sizes.episodes * EPISODE_BYTES + sizes.trainings * POLICY_BYTES
    return Bill(
        demonstrations=sizes.demonstrations,
        asked_demonstrations=sizes.asked_demonstrations,
        datasets=sizes.datasets,
        trainings=sizes.trainings,
        steps=steps,
        episodes=sizes.episodes,
        collect_min=sizes.demonstrations * collecting_s(sizes.image_size_px) / workers / 60,
        train_min=-(-sizes.trainings // workers) * steps * STEP_S / 60,
        run_min=sizes.episodes * EPISODE_S / workers / 60,
        disk_mb=size / 1e6,
    )


def episodes_a_policy(layout: Layout) -> int:
    """Return the rollouts of one policy: the grid's, in whole units, and the control's."""
    from heedful.workflows.running import resolve

    return len(resolve(layout.run_spec())[1])


def distinct(plans: Iterable[Plan]) -> set[tuple[object, ...]]:
    """Return what tells demonstrations apart: cell, carriers and repeat, over all ``plans``."""
    return {
        (plan.grid.names, row.configuration, tuple(sorted(row.carriers.items())), row.repeat)
        for plan in plans
        for row in plan.rows
    }
