"""``comparison.json`` and ``mend.json`` as values that pages are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heedful.spec.codec import from_json
from heedful.spec.errors import UserError
from heedful.spec.rollout import Estimate

REMEDY = "the same command that made it writes it anew"


@dataclass(frozen=True)
class Rate:
    """A success rate: clustered interval, naive interval, counts."""

    rate: Estimate
    naive: Estimate
    successes: int
    trials: int


@dataclass(frozen=True)
class PartRates:
    """Success on some cells, over all training seeds and by seed."""

    pooled: Rate
    by_seed: Mapping[str, Rate]


@dataclass(frozen=True)
class CellCounts:
    """One cell of the grid, over training seeds.

    Attributes:
        cell: A value of every factor.
        seeds_collected: Training seeds whose plan holds it.
        demonstrations: Those of all these plans.
        collected_successes, collected_trials: Rollouts of policies that were shown the cell.
        held_out_successes, held_out_trials: Rollouts of policies that were not.
    """

    cell: tuple[str, ...]
    seeds_collected: int
    demonstrations: int
    collected_successes: int
    collected_trials: int
    held_out_successes: int
    held_out_trials: int

    @property
    def successes(self) -> int:
        """Return successes of all policies."""
        return self.collected_successes + self.held_out_successes

    @property
    def trials(self) -> int:
        """Return rollouts of all policies."""
        return self.collected_trials + self.held_out_trials


@dataclass(frozen=True)
class Axis:
    """A factor of the grid and its values in order."""

    factor: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class PlanFacts:
    """One plan of an arm, recomputed from its rows."""

    seed: int
    f: int
    n: int
    collected_n: int
    cells: int
    cells_added: int
    demonstrations_a_cell: tuple[int, int]
    training_cpu_s: float


@dataclass(frozen=True)
class ArmFinding:
    """A strategy under a budget."""

    strategy: str
    changes: int
    demos: int
    name: str
    slug: str
    plans: tuple[PlanFacts, ...]
    success: Mapping[str, PartRates]
    grid: tuple[CellCounts, ...]
    empty_instruction: Rate
    outcomes: Mapping[str, Mapping[str, int]]

    @property
    def seeds(self) -> int:
        """Return the number of training seeds."""
        return len(self.plans)


@dataclass(frozen=True)
class NeedFinding:
    """What would separate a difference; ``None``: out of reach."""

    seeds: int | None
    rollouts: float | None


@dataclass(frozen=True)
class DifferenceFinding:
    """One strategy, or stage, minus another."""

    a: str
    b: str
    ground: str
    value: Estimate
    naive: Estimate
    p_value: float | None
    real: bool
    half_width: float | None
    need: NeedFinding | None
    verdict: str
    changes: int = 0
    demos: int = 0
    a_only: int | None = None
    b_only: int | None = None


@dataclass(frozen=True)
class LeftOutFinding:
    """A strategy that an asked f does not allow."""

    strategy: str
    changes: int
    minimum: int
    sentence: str


@dataclass(frozen=True)
class ComparisonFindings:
    """Content of ``comparison.json``."""

    request: Mapping[str, Any]
    grid: tuple[Axis, ...]
    order: tuple[str, ...]
    order_source: str
    order_remarks: tuple[str, ...]
    left_out: tuple[LeftOutFinding, ...]
    arms: tuple[ArmFinding, ...]
    differences: tuple[DifferenceFinding, ...]
    bill: Mapping[str, float]
    costs: Mapping[str, float]
    commands: tuple[str, ...] = ()

    @property
    def budgets(self) -> tuple[tuple[int, int], ...]:
        """Return the budgets (f, n) that were compared, in order."""
        return tuple(sorted({(arm.changes, arm.demos) for arm in self.arms}))

    @property
    def varies(self) -> str:
        """Return what takes several values: ``f``, or ``n``."""
        return "n" if len({n for _, n in self.budgets}) > 1 else "f"

    def at(self, budget: tuple[int, int]) -> tuple[ArmFinding, ...]:
        """Return the arms of ``budget``."""
        return tuple(arm for arm in self.arms if (arm.changes, arm.demos) == budget)

    def between(self, budget: tuple[int, int], ground: str) -> tuple[DifferenceFinding, ...]:
        """Return the differences at ``budget`` on ``ground``."""
        return tuple(
            one for one in self.differences if (one.changes, one.demos) == budget and one.ground == ground
        )


@dataclass(frozen=True)
class PlannedCell:
    """A cell of a plan and how often it is shown; 0 where it is not part of it."""

    cell: tuple[str, ...]
    demonstrations: int


@dataclass(frozen=True)
class PlanFinding:
    """The plan of a closed loop."""

    strategy: str
    order: tuple[str, ...]
    order_source: str
    remarks: tuple[str, ...]
    under_grounded: tuple[str, ...]
    f: int
    n: int
    cells: int
    cells_added: int
    demonstrations_a_cell: tuple[int, int]
    grid: tuple[PlannedCell, ...]


@dataclass(frozen=True)
class StageFinding:
    """A policy of the closed loop."""

    key: str
    name: str
    demonstrations: int
    cells: int
    conflicts: Mapping[str, Any]
    success: Mapping[str, PartRates]
    grid: tuple[CellCounts, ...]
    empty_instruction: Rate
    outcomes: Mapping[str, Mapping[str, int]]
    training_cpu_s: tuple[float, ...]

    @property
    def fdr(self) -> Estimate:
        """Return its Factor Dominance Rate in conflicts, first factor over second."""
        return from_json(Estimate, self.conflicts["fdr"])

    @property
    def neither(self) -> Estimate:
        """Return the share of conflicts in which it followed neither factor."""
        return from_json(Estimate, self.conflicts["neither"])


@dataclass(frozen=True)
class MendFindings:
    """Content of ``mend.json``."""

    request: Mapping[str, Any]
    grid: tuple[Axis, ...]
    plan: PlanFinding
    stages: tuple[StageFinding, ...]
    differences: tuple[DifferenceFinding, ...]
    bill: Mapping[str, float]
    costs: Mapping[str, float]
    commands: tuple[str, ...] = field(default_factory=tuple)

    def stage(self, key: str) -> StageFinding:
        """Return the stage ``before``, ``control`` or ``after``."""
        return next(stage for stage in self.stages if stage.key == key)

    def difference(self, a: str, b: str, ground: str) -> DifferenceFinding | None:
        """Return stage ``a`` minus stage ``b`` on ``ground``, if there are rollouts of both."""
        return next((d for d in self.differences if (d.a, d.b, d.ground) == (a, b, ground)), None)


def read_comparison_findings(data: Mapping[str, Any]) -> ComparisonFindings:
    """Return the content of ``comparison.json``.

    Raises:
        UserError: It does not hold what it should.
    """
    try:
        return from_json(ComparisonFindings, dict(data), "comparison.json")
    except UserError as error:
        raise UserError(f"{error} {REMEDY.capitalize()}.") from error


def read_mend_findings(data: Mapping[str, Any]) -> MendFindings:
    """Return the content of ``mend.json``.

    Raises:
        UserError: It does not hold what it should.
    """
    try:
        return from_json(MendFindings, dict(data), "mend.json")
    except UserError as error:
        raise UserError(f"{error} {REMEDY.capitalize()}.") from error
