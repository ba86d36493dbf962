"""From a request to every plan, dataset and policy of a comparison; nothing is computed or written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heedful.planning.grounding import GroundingOrder
from heedful.planning.schedule import make_plan, minimum_changes
from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.plan import Grid, Plan
from heedful.spec.run import RunSpec
from heedful.spec.vocabulary import load_vocabulary
from heedful.suites.grid.axes import SUITE
from heedful.workflows.comparing.request import ComparisonRequest
from heedful.workflows.training import TrainingJob

CACHE = "demonstrations"
"""Folder of a comparison in which every demonstration is kept once, whichever plans ask for it."""


@dataclass(frozen=True)
class Arm:
    """A strategy under a budget: f factor changes, n demonstrations."""

    strategy: str
    changes: int
    demos: int

    @property
    def name(self) -> str:
        """Return what the run calls its policies: ``v f=18 n=200``."""
        return f"{self.strategy} f={self.changes} n={self.demos}"

    @property
    def slug(self) -> str:
        """Return what folders call it: ``v-f18-n200``."""
        return f"{self.strategy}-f{self.changes}-n{self.demos}"


@dataclass(frozen=True, eq=False)
class Lesson:
    """One policy of an arm: what it is shown, and where that and the policy lie.

    Attributes:
        arm: Strategy and budget.
        seed: Seed of the training and of the plan's random cells.
        plan: The demonstrations.
        plan_file: Where the plan is written.
        data: The dataset; shared by lessons with the same rows.
        policy: The checkpoint; shared by lessons with the same rows and seed.
    """

    arm: Arm
    seed: int
    plan: Plan
    plan_file: Path
    data: Path
    policy: Path


@dataclass(frozen=True)
class LeftOut:
    """A strategy that cannot do with so few factor changes."""

    strategy: str
    changes: int
    minimum: int

    @property
    def sentence(self) -> str:
        """Return why, in one line."""
        return f"Strategy {self.strategy} is left out at f = {self.changes}: its least is {self.minimum}."


@dataclass(frozen=True)
class Layout:
    """Everything that a comparison consists of.

    Attributes:
        request: What was asked, checked.
        grounding: The order of the factors that strategies took.
        arms: Strategies under budgets, in the order asked for.
        lessons: One policy an arm and seed.
        left_out: What the budgets do not allow.
    """

    request: ComparisonRequest
    grounding: GroundingOrder
    arms: tuple[Arm, ...]
    lessons: tuple[Lesson, ...]
    left_out: tuple[LeftOut, ...]

    def datasets(self) -> dict[Path, Plan]:
        """Return every different dataset with the plan it is collected from."""
        found: dict[Path, Plan] = {}
        for lesson in self.lessons:
            found.setdefault(lesson.data, lesson.plan)
        return found

    def jobs(self) -> list[TrainingJob]:
        """Return every different training."""
        found = {
            lesson.policy: TrainingJob(
                lesson.data, lesson.policy, self.request.encoder, lesson.seed, self.request.steps
            )
            for lesson in reversed(self.lessons)
        }
        return list(reversed(found.values()))

    def ref(self, lesson: Lesson) -> str:
        """Return how the run names the policy of ``lesson``."""
        return f"{self.request.recipe}:{lesson.policy}"

    def run_spec(self) -> RunSpec:
        """Return the run in which all policies meet the same scenes."""
        entries: dict[Path, PolicyEntry] = {}
        for lesson in self.lessons:
            entry = PolicyEntry(self.ref(lesson), lesson.arm.name, lesson.seed)
            entries.setdefault(lesson.policy, entry)
        options = {
            "factors": list(self.request.factors),
            "rollouts": self.request.rollouts,
            "empty": self.request.empty,
            "vocabulary": self.request.vocabulary,
        }
        return RunSpec(SUITE, options, tuple(entries.values()), base_seed=self.request.base_seed)


def lay_out(request: ComparisonRequest, grounding: GroundingOrder, out: Path) -> Layout:
    """Return what ``request`` comes to in the folder ``out``.

    A strategy whose least f is above an asked one is left out there.

    Args:
        request: As ``checked`` returns it.
        grounding: The order of the factors.
        out: Folder of the comparison.

    Raises:
        UserError: Nothing is left, or n is below the number of cells of a plan.
    """
    vocabulary = load_vocabulary(request.vocabulary)
    axes = tuple(vocabulary.grammar.factor(name) for name in request.factors)
    grid = Grid(axes, tuple(axis.values[0] for axis in axes))
    least = {name: minimum_changes(name, grid, grounding.order) for name in request.strategies}
    budgets = request.changes or (max(least.values()),)
    if budgets == (0,):
        raise UserError("Strategy random has no f of its own; say how many factor changes with --changes.")
    arms, left_out = [], []
    for strategy in request.strategies:
        for changes in budgets:
            if least[strategy] > changes:
                left_out.append(LeftOut(strategy, changes, least[strategy]))
            else:
                arms += [Arm(strategy, changes, demos) for demos in request.demos]
    if not arms:
        raise UserError(f"Nothing is left to compare. {' '.join(one.sentence for one in left_out)}")
    lessons: list[Lesson] = []
    for arm in arms:
        for seed in range(request.seeds):
            plan = make_plan(
                request.vocabulary,
                vocabulary,
                request.factors,
                arm.strategy,
                arm.demos,
                arm.changes,
                grounding.order,
                seed=seed,
            )
            lessons.append(_lesson(arm, seed, plan, lessons, out))
    return Layout(request, grounding, tuple(arms), tuple(lessons), tuple(left_out))


def _lesson(arm: Arm, seed: int, plan: Plan, earlier: Sequence[Lesson], out: Path) -> Lesson:
    """Return the lesson of ``plan``, which shares what an earlier one with the same rows has."""
    slug = f"{arm.slug}-{seed}"
    alike = [lesson for lesson in earlier if lesson.plan.rows == plan.rows]
    data = alike[0].data if alike else out / "data" / slug
    same = [lesson.policy for lesson in alike if lesson.seed == seed]
    policy = same[0] if same else out / "policies" / slug
    return Lesson(arm, seed, plan, out / "plans" / f"{slug}.csv", data, policy)
