"""A collection plan: which configurations to demonstrate, in which order, how often."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from heedful.spec.errors import UserError
from heedful.spec.grammar import Factor, Instruction

Configuration = tuple[str, ...]
"""One value of each factor of a grid, in the grid's order of factors: one cell."""


@dataclass(frozen=True)
class Grid:
    """The grid of N factors with k_i values each that a plan chooses cells from.

    Attributes:
        factors: The N factors, at least one.
        base: The base configuration f*, from which strategies start.
    """

    factors: tuple[Factor, ...]
    base: Configuration

    def __post_init__(self) -> None:
        names = [factor.name for factor in self.factors]
        if not names or len(set(names)) < len(names):
            raise UserError(f"A grid needs different factors, at least one; it was given {names}.")
        if len(self.base) != len(self.factors):
            raise UserError(f"The base configuration {list(self.base)} needs one value for each of {names}.")
        for factor, value in zip(self.factors, self.base, strict=True):
            factor.check(value)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the factors' names in order."""
        return tuple(factor.name for factor in self.factors)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return k_i, the number of values of each factor."""
        return tuple(len(factor.values) for factor in self.factors)

    @property
    def cell_count(self) -> int:
        """Return the number of cells: the product of the k_i."""
        return math.prod(self.sizes)

    def cells(self) -> tuple[Configuration, ...]:
        """Return every cell, the last factor varying fastest; large grids make long tuples."""
        return tuple(itertools.product(*(factor.values for factor in self.factors)))

    def check(self, configuration: Sequence[str]) -> Configuration:
        """Return ``configuration``, or raise the error that names what is not a value of the grid."""
        if len(configuration) != len(self.factors):
            raise UserError(
                f"The configuration {list(configuration)} needs one value for each of {list(self.names)}."
            )
        return tuple(f.check(v) for f, v in zip(self.factors, configuration, strict=True))


def distance(one: Configuration, other: Configuration) -> int:
    """Return the Hamming distance: the factors that must be changed to get from one to the other.

    >>> distance(("red", "cube"), ("red", "cup"))
    1
    """
    return sum(a != b for a, b in zip(one, other, strict=True))


def factor_changes(configurations: Sequence[Configuration]) -> int:
    """Return f, the cost of a schedule: the distances between consecutive configurations, summed.

    >>> factor_changes([("red", "cube"), ("red", "cup"), ("blue", "car")])
    3
    """
    return sum(distance(a, b) for a, b in itertools.pairwise(configurations))


@dataclass(frozen=True)
class PlanRow:
    """One demonstration to collect.

    Attributes:
        configuration: The cell.
        carriers: Other factors that the instruction must name, with their values; they say
            nothing about the grid and changing them is not counted.
        instruction: What the demonstration shows.
        repeat: How many earlier rows of the plan ask for the same cell and carriers.
    """

    configuration: Configuration
    carriers: Mapping[str, str]
    instruction: Instruction
    repeat: int


@dataclass(frozen=True)
class Plan:
    """A schedule of demonstrations, in the order in which they are to be collected.

    Attributes:
        grammar: Name of a shipped vocabulary or grammar, or the path of a YAML file.
        grid: The factors, their values and the base configuration.
        strategy: The strategy that chose the cells; empty when a person wrote the plan.
        order: The factors from the best to the worst grounded, as the strategy took them.
        seed: Seed of every random choice of the plan.
        rows: One demonstration each.
        added: Cells added at random, only to bring f up to what was asked for.
    """

    grammar: str
    grid: Grid
    rows: tuple[PlanRow, ...]
    strategy: str = ""
    order: tuple[str, ...] = ()
    seed: int = 0
    added: tuple[Configuration, ...] = field(default_factory=tuple)

    @property
    def visits(self) -> tuple[Configuration, ...]:
        """Return the configurations in order, each stay at a cell once."""
        return tuple(cell for cell, _ in itertools.groupby(row.configuration for row in self.rows))

    @property
    def cells(self) -> tuple[Configuration, ...]:
        """Return the different cells, in the order of their first demonstration."""
        return tuple(dict.fromkeys(row.configuration for row in self.rows))

    @property
    def changes(self) -> int:
        """Return f, recomputed from the rows."""
        return factor_changes(self.visits)

    def demonstrations(self) -> dict[Configuration, int]:
        """Return cell -> number of its demonstrations."""
        counts: dict[Configuration, int] = {}
        for row in self.rows:
            counts[row.configuration] = counts.get(row.configuration, 0) + 1
        return counts
