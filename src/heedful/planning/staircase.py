"""The order of cells that changes the fewest factors: a shortest path under the Hamming distance.

A full grid has an order in which every step costs 1 (a reflected mixed-radix Gray code), up to
twelve cells are solved exactly (Held and Karp's dynamic programme), and the rest by local search
that stops early where a lower bound proves it done. All of it is deterministic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from heedful.planning.path_search import improved_path, nearest_neighbours
from heedful.spec.errors import UserError
from heedful.spec.plan import Configuration, factor_changes

EXACT_CELLS = 12
"""Largest number of cells that is always solved exactly."""
SEARCHED_CELLS = 600
"""Largest number of cells for which the search is worth its time; more take the nearest next cell."""

I64 = NDArray[np.int64]


def staircase(cells: Sequence[Configuration], start: Configuration | None = None) -> list[Configuration]:
    """Return the different ``cells`` in an order of the least f that was found.

    Args:
        cells: The cells, in a naive order; the result never costs more than that order does.
        start: The cell to begin with; by default wherever is cheapest, the first of ``cells``
            if that costs no more.

    Raises:
        UserError: ``start`` is none of ``cells``.
    """
    unique = tuple(dict.fromkeys(tuple(cell) for cell in cells))
    if start is not None and start not in unique:
        raise UserError(f"The start {list(start)} is none of the {len(unique)} cells to be ordered.")
    return list(_ordered(unique, start))


def least_changes_bound(cells: Sequence[Configuration]) -> int:
    """Return a number of factor changes that no order of the different ``cells`` can go below.

    It is the weight of the minimum spanning tree, which every path is at least as heavy as.
    """
    unique = list(dict.fromkeys(cells))
    return _spanning_tree_weight(_distances(unique)) if unique else 0


@lru_cache(maxsize=256)
def _ordered(cells: tuple[Configuration, ...], start: Configuration | None) -> tuple[Configuration, ...]:
    if len(cells) <= 2:
        return cells if start is None or cells[0] == start else cells[::-1]
    naive = cells if start is None else (start, *(cell for cell in cells if cell != start))
    values = [tuple(dict.fromkeys(column)) for column in zip(*naive, strict=True)]
    if math.prod(map(len, values)) == len(cells):
        return tuple(_gray(values))
    if len(cells) > SEARCHED_CELLS:
        codes = _coded(naive, values)
        path = nearest_neighbours(len(codes), lambda cell: (codes != codes[cell]).sum(axis=1))
        return min(naive, tuple(naive[i] for i in path), key=factor_changes)
    distances = _distances(naive)
    bound = _spanning_tree_weight(distances)
    begun = _path(distances, bound, at_first=True)
    if start is None and _cost(distances, begun) > bound:
        free = _path(distances, bound, at_first=False)
        begun = free if _cost(distances, free) < _cost(distances, begun) else begun
    return min(naive, tuple(naive[i] for i in begun), key=factor_changes)


def _path(distances: I64, bound: int, at_first: bool) -> list[int]:
    """Return a shortest path over all cells, from cell 0 or from wherever is cheapest."""
    if len(distances) <= EXACT_CELLS:
        return _held_karp(distances, at_first)
    return improved_path(distances, bound, at_first)


def _gray(values: Sequence[tuple[str, ...]]) -> list[Configuration]:
    """Return every combination of ``values``, the last factor fastest, changing one at each step."""
    order: list[Configuration] = [()]
    for column in values:
        order = [
            (*cell, value) for i, cell in enumerate(order) for value in (column[::-1] if i % 2 else column)
        ]
    return order


def _held_karp(distances: I64, at_first: bool) -> list[int]:
    """Return the exact shortest path; 2^n x n table of the cheapest way to visit a set and end there."""
    n = len(distances)
    never = 1 << 30
    best = np.full((1 << n, n), never, dtype=np.int64)
    for cell in range(1 if at_first else n):
        best[1 << cell, cell] = 0
    bits = 1 << np.arange(n)
    for visited in range(1, 1 << n):
        reach = (best[visited][:, None] + distances).min(axis=0)
        outside = np.flatnonzero((visited & bits) == 0)
        grown = visited | bits[outside]
        best[grown, outside] = np.minimum(best[grown, outside], reach[outside])
    visited = (1 << n) - 1
    path = [int(best[visited].argmin())]
    while visited != 1 << path[-1]:
        here = path[-1]
        visited ^= 1 << here
        path.append(int((best[visited] + distances[:, here]).argmin()))
    return path[::-1]


def _coded(cells: Sequence[Configuration], values: Sequence[tuple[str, ...]]) -> I64:
    """Return cells as value numbers, [M, N]."""
    numbers = [{value: i for i, value in enumerate(column)} for column in values]
    return np.asarray(
        [[number[value] for number, value in zip(numbers, cell, strict=True)] for cell in cells],
        dtype=np.int64,
    )


def _distances(cells: Sequence[Configuration]) -> I64:
    """Return Hamming distances, [M, M]."""
    codes = _coded(cells, [tuple(dict.fromkeys(column)) for column in zip(*cells, strict=True)])
    away: I64 = (codes[:, None, :] != codes[None, :, :]).sum(axis=2)
    return away


def _cost(distances: I64, path: Sequence[int]) -> int:
    return int(distances[path[:-1], path[1:]].sum())


def _spanning_tree_weight(distances: I64) -> int:
    """Return the weight of the minimum spanning tree (Prim)."""
    near = distances[0].copy()
    near[0] = -1
    weight = 0
    for _ in range(len(distances) - 1):
        nearest = int(np.where(near < 0, 1 << 30, near).argmin())
        weight += int(near[nearest])
        near = np.where(near < 0, near, np.minimum(near, distances[nearest]))
        near[nearest] = -1
    return weight
