"""From a strategy and a budget to a plan: cells, their order, equal f, demonstrations, wording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from heedful.planning.grounding import PUBLISHED_ORDER, ranked
from heedful.planning.staircase import staircase
from heedful.planning.strategies import strategy_cells, strategy_named
from heedful.spec.carriers import default_carriers
from heedful.spec.errors import UserError
from heedful.spec.grammar import Grammar
from heedful.spec.plan import Configuration, Grid, Plan, PlanRow, factor_changes
from heedful.spec.seeds import generator
from heedful.spec.vocabulary import Carriers, Vocabulary, carrier_choices

MOST = 100_000
"""Demonstrations or factor changes of a plan; more is a slip of the keyboard."""
LARGEST_GRID = 1_000_000
"""Cells of the largest grid that is written out, as random draws and complete need."""


def make_plan(
    grammar_name: str,
    grammar: Grammar | Vocabulary,
    factors: Sequence[str],
    strategy: str,
    demos: int,
    changes: int | None = None,
    order: Sequence[str] = PUBLISHED_ORDER,
    base: Sequence[str] | None = None,
    seed: int = 0,
    carriers: Carriers | None = None,
) -> Plan:
    """Return the plan of ``demos`` demonstrations over the grid of ``factors``.

    The cells of the strategy stand in staircase order. Where that takes fewer than ``changes``
    factor changes, random cells are appended until f is exactly ``changes``: uniformly among the
    least visited cells that do not overshoot, so unvisited ones first. ``random`` is nothing but
    such draws. All demonstrations of one stay at a cell are consecutive, and the j-th one of a
    cell takes carrier choice j modulo their number.

    Args:
        grammar_name: Name or path under which the grammar is loaded again.
        grammar: The grammar; a vocabulary's training sets say what their pairs carry.
        factors: The factors to vary, the axes of the grid.
        strategy: ``complete``, ``random``, ``l``, ``v`` or ``v-full``, in any case.
        demos: n, spread over the cells as evenly as it goes.
        changes: f; ``None`` for the least that the strategy needs.
        order: Factors from the best to the worst grounded; others than ``factors`` are ignored.
        base: The base configuration, one value a factor in the order of ``factors``; the first
            values by default.
        seed: Seed of the random draws.
        carriers: What the instructions name besides; see ``default_carriers``.

    Raises:
        UserError: Something unknown, f below the minimum, or n below the number of cells.
    """
    for what, number in (("demonstrations", demos), ("factor changes", changes or 0)):
        if number > MOST:
            raise UserError(f"{number} {what} are asked; a plan has at most {MOST}.")
    bindings = grammar.bindings if isinstance(grammar, Vocabulary) else ()
    words = grammar.grammar if isinstance(grammar, Vocabulary) else grammar
    axes = tuple(words.factor(name) for name in factors)
    grid = Grid(axes, tuple(base) if base is not None else tuple(axis.values[0] for axis in axes))
    name = strategy_named(strategy)
    ranks = ranked(grid.names, order)
    visits = _visits(name, grid, ranks)
    least = factor_changes(visits)
    if changes is None and name == "random":
        raise UserError("Strategy random has no f of its own; say how many factor changes with --changes.")
    if changes is not None and changes < least:
        raise UserError(
            f"Strategy {name} needs at least {least} factor changes over {', '.join(grid.names)}; "
            f"{changes} is asked. Ask for {least} or more, or for another strategy."
        )
    drawn: list[Configuration] = []
    if changes is not None and (changes > least or not visits):
        drawn = _drawn(grid, visits, changes - least, generator(seed, "plan", name, *grid.names))
    visits = [*visits, *drawn]
    carried = default_carriers(words, grid.names, bindings) if carriers is None else carriers
    return Plan(
        grammar=grammar_name,
        grid=grid,
        rows=_rows(words, grid, visits, spread(visits, demos), carried),
        strategy=name,
        order=ranks,
        seed=seed,
        added=() if name == "random" else tuple(drawn),
    )


def minimum_changes(strategy: str, grid: Grid, order: Sequence[str] = PUBLISHED_ORDER) -> int:
    """Return the least f of ``strategy``; 0 for ``random``, which takes whatever it is given."""
    return factor_changes(_visits(strategy_named(strategy), grid, order))


def spread(visits: Sequence[Configuration], demos: int) -> list[int]:
    """Return the number of demonstrations of each stay, as even over the cells as ``demos`` allows.

    The counts of two cells differ by at most 1; a cell with several stays shares its own out
    evenly among them, at least one each.

    Raises:
        UserError: ``demos`` is too few for that; the line says which number would do.
    """
    stays = Counter(visits)
    most = max(stays.values())
    fewest = (most - 1) * len(stays) + sum(count == most for count in stays.values())
    if demos < fewest:
        needed = f"{len(stays)} cells" + (f" that are visited up to {most} times" if most > 1 else "")
        raise UserError(
            f"{demos} demonstrations are too few for {needed}; {fewest} is the smallest number that will do."
        )
    each, over = divmod(demos, len(stays))
    share = {
        cell: each + (i < over) for i, cell in enumerate(sorted(stays, key=lambda cell: -stays[cell]))
    }  # sorted keeps equal ones in order: the first cells of the schedule get the ones left over
    counts: list[int] = []
    seen: Counter[Configuration] = Counter()
    for cell in visits:
        own, rest = divmod(share[cell], stays[cell])
        counts.append(own + (seen[cell] < rest))
        seen[cell] += 1
    return counts


def _visits(strategy: str, grid: Grid, order: Sequence[str]) -> list[Configuration]:
    """Return the cells of ``strategy`` in staircase order; none for ``random``."""
    if strategy == "random":
        return []
    if strategy == "complete":
        _check_size(grid)
    return staircase(strategy_cells(strategy, grid, order))


def _drawn(
    grid: Grid, visits: Sequence[Configuration], changes: int, rng: np.random.Generator
) -> list[Configuration]:
    """Return random cells that follow ``visits`` and add exactly ``changes`` factor changes."""
    _check_size(grid)
    cells = grid.cells()
    codes = np.indices(grid.sizes).reshape(len(grid.sizes), -1).T  # [M, N], in the order of grid.cells()
    if len(cells) == 1 and changes:
        raise UserError("The grid has one cell only; nothing can change in it.")
    number = {cell: i for i, cell in enumerate(cells)}
    times = np.zeros(len(cells), dtype=np.int64)
    for cell in visits:
        times[number[cell]] += 1
    drawn: list[Configuration] = []
    if visits:
        here = number[visits[-1]]
    else:
        here = int(rng.integers(len(cells)))
        drawn.append(cells[here])
        times[here] += 1
    while changes:
        away = (codes != codes[here]).sum(axis=1)
        fits = (away > 0) & (away <= changes)
        fits &= times == times[fits].min()
        here = int(rng.choice(np.flatnonzero(fits)))
        changes -= int(away[here])
        times[here] += 1
        drawn.append(cells[here])
    return drawn


def _rows(
    grammar: Grammar,
    grid: Grid,
    visits: Sequence[Configuration],
    counts: Sequence[int],
    carriers: Carriers,
) -> tuple[PlanRow, ...]:
    choices = carrier_choices(carriers)
    done: Counter[Configuration] = Counter()
    rows = []
    for cell, count in zip(visits, counts, strict=True):
        for j in range(done[cell], done[cell] + count):
            choice = choices[j % len(choices)]
            instruction = grammar.instruction({**dict(zip(grid.names, cell, strict=True)), **choice})
            rows.append(PlanRow(cell, choice, instruction, repeat=j // len(choices)))
        done[cell] += count
    return tuple(rows)


def _check_size(grid: Grid) -> None:
    if grid.cell_count > LARGEST_GRID:
        raise UserError(
            f"The grid of {', '.join(grid.names)} has {grid.cell_count:,} cells, too many to write out; "
            "use fewer factors, or strategy l, v or v-full without --changes."
        )
