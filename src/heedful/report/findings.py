"""What ``metrics.json`` of the factors suite holds, as typed values.

Keys that a run does not have keep their defaults; the report then says what is missing.
Keys that are not listed here are left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from heedful.spec.codec import from_json
from heedful.spec.rollout import Estimate


@dataclass(frozen=True)
class Counts:
    """Rollouts by label. ``crashed`` and ``unjudged`` have no verdict and enter no rate."""

    success: int = 0
    overfit_1: int = 0
    overfit_2: int = 0
    neither: int = 0
    crashed: int = 0
    unjudged: int = 0

    @property
    def judged(self) -> int:
        """Return the number of rollouts that have a verdict."""
        return self.success + self.overfit_1 + self.overfit_2 + self.neither

    @property
    def fdr(self) -> float | None:
        """Return (N1 - N2) / (N1 + N2), ``None`` when nothing was overfit."""
        overfit = self.overfit_1 + self.overfit_2
        return (self.overfit_1 - self.overfit_2) / overfit if overfit else None

    def share(self, label: str) -> float | None:
        """Return the share of judged rollouts with ``label``, ``None`` without any."""
        return float(getattr(self, label)) / self.judged if self.judged else None


@dataclass(frozen=True)
class CellFinding:
    """One combination of two factor values."""

    value_1: str
    value_2: str
    counts: Counts


@dataclass(frozen=True)
class ArmFinding:
    """A control arm: the trained combinations, or the empty instruction."""

    counts: Counts = Counts()
    success: Estimate | None = None
    fdr: Estimate | None = None
    neither: Estimate | None = None
    side_preference: Estimate | None = None
    cells: tuple[CellFinding, ...] = ()

    @property
    def ran(self) -> bool:
        """Return whether any rollout of the arm exists."""
        return self.counts.judged + self.counts.crashed + self.counts.unjudged > 0


@dataclass(frozen=True)
class SeedFinding:
    """One training seed of a policy on one pair."""

    training_seed: int | None
    fdr: Estimate
    counts: Counts = Counts()
    neither: Estimate | None = None
    in_distribution: Estimate | None = None


@dataclass(frozen=True)
class PairFinding:
    """One policy on one pair of factors; label 1 and positive FDR belong to ``factor_1``.

    Attributes:
        fdr: With the interval that counts, bootstrapped over value pairs and training seeds.
        fdr_naive: With p's Wilson interval over rollouts, transformed.
        same_object: Share of scenes in which the same object was taken under both of the
            swapped instructions.
        side_preference: Share of the object on the image's left among the objects taken.
        values_1, values_2: Axes of the grid, in the grammar's order.
        bound: Trained combinations (value_1, value_2).
        weak: The policy can do too little for its FDR to mean anything.
        takeaway: One sentence with an example.
    """

    pair: str
    factor_1: str
    factor_2: str
    fdr: Estimate
    counts: Counts
    kind: str = ""
    fdr_naive: Estimate | None = None
    success: Estimate | None = None
    neither: Estimate | None = None
    same_object: Estimate | None = None
    side_preference: Estimate | None = None
    values_1: tuple[str, ...] = ()
    values_2: tuple[str, ...] = ()
    bound: tuple[tuple[str, str], ...] = ()
    cells: tuple[CellFinding, ...] = ()
    in_distribution: ArmFinding | None = None
    empty_instruction: ArmFinding | None = None
    by_training_seed: tuple[SeedFinding, ...] = ()
    warnings: tuple[str, ...] = ()
    weak: bool = False
    takeaway: str = ""


@dataclass(frozen=True)
class StepFinding:
    """How often the draws put every factor of ``above`` before every factor of ``below``."""

    above: tuple[str, ...]
    below: tuple[str, ...]
    sure: float


@dataclass(frozen=True)
class TauFinding:
    """The order at one tie threshold."""

    tau: float
    levels: tuple[tuple[str, ...], ...]
    sure: float | None = None


@dataclass(frozen=True)
class SegmentFinding:
    """The order that holds for every tie threshold from ``low`` up to ``high``."""

    low: float
    high: float
    levels: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class HierarchyFinding:
    """Factors ranked by Copeland score; equal scores share a level.

    Attributes:
        sure: Share of draws from the FDRs' uncertainty that give exactly this order.
        order_kept: The same for each step between neighbouring levels.
        by_tau: The order at some tie thresholds.
        sensitivity: The order at every tie threshold, from 0 to 1.
    """

    copeland: Mapping[str, int]
    levels: tuple[tuple[str, ...], ...]
    sure: float | None = None
    order_kept: tuple[StepFinding, ...] = ()
    by_tau: tuple[TauFinding, ...] = ()
    sensitivity: tuple[SegmentFinding, ...] = ()


@dataclass(frozen=True)
class PolicyFinding:
    """Everything about one policy (one recipe: its entries differ in pair and training seed)."""

    name: str
    refs: tuple[str, ...] = ()
    training_seeds: tuple[int | None, ...] = ()
    pairs: tuple[PairFinding, ...] = ()
    hierarchy: HierarchyFinding | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Findings:
    """The content of ``metrics.json``."""

    policies: tuple[PolicyFinding, ...]
    tau: float = 0.05
    factors: tuple[str, ...] = ()
    judge: str = ""
    warnings: tuple[str, ...] = ()


def read_findings(metrics: Mapping[str, Any], where: str = "metrics.json") -> Findings:
    """Return the typed content of ``metrics``.

    Raises:
        UserError: A key is missing or of the wrong type.
    """
    found = from_json(Findings, dict(metrics), where)
    return replace(
        found, policies=tuple(replace(p, pairs=tuple(map(_tidy, p.pairs))) for p in found.policies)
    )


def _tidy(pair: PairFinding) -> PairFinding:
    """Return ``pair`` with arms that were not run, and shares of nothing, left out."""
    seen, wordless = pair.in_distribution, pair.empty_instruction
    return replace(
        pair,
        in_distribution=seen if seen is not None and seen.ran else None,
        empty_instruction=wordless if wordless is not None and wordless.ran else None,
        same_object=_measured(pair.same_object),
        side_preference=_measured(pair.side_preference),
        neither=_measured(pair.neither),
        success=_measured(pair.success),
    )


def _measured(estimate: Estimate | None) -> Estimate | None:
    return None if estimate is None or estimate.value is None else estimate
