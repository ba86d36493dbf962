"""The three policies of the closed loop: what each is shown, and where it lies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from heedful.spec.case import PolicyEntry
from heedful.spec.demonstration import DemonstrationTask
from heedful.spec.plan import Configuration, Plan
from heedful.spec.run import RunSpec
from heedful.spec.vocabulary import load_vocabulary
from heedful.suites.factors.tasks import pair_tasks
from heedful.suites.grid.tasks import plan_tasks
from heedful.workflows.mending.request import MendRequest
from heedful.workflows.training import TrainingJob

CONFLICTS, GRID = "conflicts", "grid"
"""Subfolders with the run of suite factors and the run of suite grid."""


@dataclass(frozen=True, eq=False)
class Stage:
    """A policy, trained once a seed.

    Attributes:
        key: ``before``, ``control`` or ``after``; its folders are named after it.
        name: What runs and pages call it.
        tasks: Its demonstrations.
        data: Its dataset.
        policies: Training seed -> checkpoint.
    """

    key: str
    name: str
    tasks: tuple[DemonstrationTask, ...]
    data: Path
    policies: dict[int, Path]

    def shown(self, factors: tuple[str, ...]) -> dict[Configuration, int]:
        """Return cell of the grid over ``factors`` -> demonstrations of it."""
        return dict(Counter(tuple(task.instruction.values[f] for f in factors) for task in self.tasks))

    def entries(self, request: MendRequest) -> tuple[PolicyEntry, ...]:
        """Return its policies as a run names them."""
        return tuple(
            PolicyEntry(f"{request.recipe}:{folder}", self.name, seed)
            for seed, folder in self.policies.items()
        )

    def jobs(self, request: MendRequest) -> list[TrainingJob]:
        """Return its trainings."""
        return [
            TrainingJob(self.data, folder, request.encoder, seed, request.steps)
            for seed, folder in self.policies.items()
        ]


def before(request: MendRequest, out: Path) -> Stage:
    """Return the policy to be diagnosed: it is shown bound values alone."""
    return _stage(request, out, "before", "before", _bound(request, request.base_demos))


def control(request: MendRequest, out: Path) -> Stage:
    """Return the matched control: as many demonstrations more, of what was there already."""
    tasks = _bound(request, request.base_demos + request.demos)
    return _stage(request, out, "control", "more of the same", tasks)


def after(request: MendRequest, plan: Plan, out: Path) -> Stage:
    """Return the mended policy: it is shown the planned demonstrations, too."""
    tasks = _bound(request, request.base_demos) + plan_tasks(load_vocabulary(request.vocabulary), plan)
    return _stage(request, out, "after", "after the plan", tasks)


def conflicts_spec(request: MendRequest, *stages: Stage) -> RunSpec:
    """Return the run of conflicts, as in a diagnosis."""
    options = {
        "pairs": [",".join(request.factors)],
        "rollouts": request.rollouts,
        "in_distribution": request.in_distribution,
        "empty": request.empty,
        "demos": request.base_demos,
    }
    return RunSpec("factors", options, _entries(request, stages), base_seed=request.base_seed)


def grid_spec(request: MendRequest, *stages: Stage) -> RunSpec:
    """Return the run over the whole grid."""
    options = {
        "factors": list(request.factors),
        "rollouts": request.rollouts,
        "empty": request.empty,
        "vocabulary": request.vocabulary,
    }
    return RunSpec("grid", options, _entries(request, stages), base_seed=request.base_seed)


def _entries(request: MendRequest, stages: tuple[Stage, ...]) -> tuple[PolicyEntry, ...]:
    return tuple(entry for stage in stages for entry in stage.entries(request))


def _bound(request: MendRequest, demos: int) -> list[DemonstrationTask]:
    """Return the first ``demos`` demonstrations of the training set; more only add to them."""
    return pair_tasks(load_vocabulary(request.vocabulary), request.binding, demos)


def _stage(request: MendRequest, out: Path, key: str, name: str, tasks: list[DemonstrationTask]) -> Stage:
    policies = {seed: out / "policies" / f"{key}-{seed}" for seed in range(request.seeds)}
    return Stage(key, name, tuple(tasks), out / "data" / key, policies)
