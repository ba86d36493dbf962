"""Which cells of a grid a strategy demonstrates (arXiv 2607.21582; L also arXiv 2403.05110).

A factor's values are taken base first, then in the grammar's order: step 0 is the base value.
Where factors have different numbers of values k_i, diagonals have max(k_i) steps and a factor
that has reached its last value stays there; cells that this makes equal are kept once.

The paper's text and its algorithm describe V differently, so there are two of it:

* ``v``, the text. A column for each under-grounded factor, the lowest first: that factor stays
  at base while the factor ranked next above it is swept alone. The main diagonal, all factors
  in step. The sub-diagonal, the best grounded factor one step ahead of the rest. For two
  factors this is the published column + diagonal + sub-diagonal. For more, the text leaves open
  what else moves in a column; that it is the next factor above, alone, is our reading.
* ``v-full``, the algorithm. Every factor swept alone, the main diagonal, and N sub-diagonals, in
  each of which one factor runs one step ahead of the rest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence

from heedful.planning.grounding import ranked, under_grounded
from heedful.spec.errors import unknown
from heedful.spec.plan import Configuration, Grid

STRATEGIES = ("complete", "random", "l", "v", "v-full")

Steps = tuple[int, ...]
"""A cell as the step of each factor; 0 is base."""


def strategy_named(text: str) -> str:
    """Return the strategy that ``text`` names in any case and with any separator.

    Raises:
        UserError: There is none of that name.

    >>> strategy_named("V_full"), strategy_named("L")
    ('v-full', 'l')
    """
    name = re.sub(r"[\s_-]+", "-", text.strip().lower())
    name = "v-full" if name == "vfull" else name
    if name not in STRATEGIES:
        raise unknown("strategy", text, STRATEGIES)
    return name


def strategy_cells(strategy: str, grid: Grid, order: Sequence[str]) -> list[Configuration]:
    """Return the different cells that ``strategy`` demonstrates, in its naive order.

    Args:
        strategy: ``complete``, ``l``, ``v`` or ``v-full``; ``random`` has no cells of its own.
        grid: The factors and the base configuration.
        order: Factors from the best to the worst grounded; used by ``v`` alone.

    Raises:
        UserError: ``order`` does not rank the grid's factors.
    """
    moves: dict[str, Callable[[], Iterator[Steps]]] = {
        "l": lambda: _spokes(grid, range(len(grid.factors))),
        "v": lambda: _v(grid, order),
        "v-full": lambda: _v_full(grid),
    }
    if strategy == "complete":
        return list(grid.cells())
    if strategy not in moves:
        raise unknown("strategy with cells of its own", strategy, ("complete", *moves))
    ladders = [
        (base, *(value for value in factor.values if value != base))
        for factor, base in zip(grid.factors, grid.base, strict=True)
    ]
    return list(
        dict.fromkeys(
            tuple(ladder[min(step, len(ladder) - 1)] for ladder, step in zip(ladders, steps, strict=True))
            for steps in moves[strategy]()
        )
    )


def expected_step(sizes: Sequence[int], replacement: bool = False) -> float:
    """Return the expected number of factors that change between two consecutive random cells.

    With replacement, and in the limit of large grids, it is the published sum of (k_i - 1) / k_i.
    Two different cells out of M = prod(k_i) differ a little more: that sum times M / (M - 1).

    >>> round(expected_step([6, 6], replacement=True), 4), round(expected_step([6, 6]), 4)
    (1.6667, 1.7143)
    """
    cells = math.prod(sizes)
    published = sum((k - 1) / k for k in sizes)
    return published if replacement or cells == 1 else published * cells / (cells - 1)


def _spokes(grid: Grid, factors: Sequence[int]) -> Iterator[Steps]:
    """Yield base, then each of ``factors`` (positions) swept alone."""
    yield (0,) * len(grid.factors)
    for i in factors:
        for step in range(1, grid.sizes[i]):
            yield tuple(step if i == at else 0 for at in range(len(grid.factors)))


def _diagonal(grid: Grid) -> Iterator[Steps]:
    for step in range(max(grid.sizes)):
        yield (step,) * len(grid.factors)


def _sub_diagonal(grid: Grid, ahead: int) -> Iterator[Steps]:
    """Yield the cells in which factor ``ahead`` is one step ahead of all others."""
    for step in range(1, max(grid.sizes)):
        yield tuple(step if ahead == at else step - 1 for at in range(len(grid.factors)))


def _v(grid: Grid, order: Sequence[str]) -> Iterator[Steps]:
    ranks = ranked(grid.names, order)
    swept = [ranks[ranks.index(low) - 1] for low in under_grounded(grid.names, order)]
    yield from _spokes(grid, [grid.names.index(name) for name in swept])
    yield from _diagonal(grid)
    yield from _sub_diagonal(grid, grid.names.index(ranks[0]))


def _v_full(grid: Grid) -> Iterator[Steps]:
    yield from _spokes(grid, range(len(grid.factors)))
    yield from _diagonal(grid)
    for ahead in range(len(grid.factors)):
        yield from _sub_diagonal(grid, ahead)
