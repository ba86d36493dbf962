"""Local search for a short path over all cells: nearest neighbours, 2-opt, or-opt, restarts by kicks.

A path is searched as a closed tour through one more, empty place at distance 0 to every cell;
the path is the tour cut open there. 2-opt turns a stretch of the tour round, or-opt moves a
stretch of up to three cells elsewhere (Or 1976), and where neither helps any more a double
bridge, which both cannot undo, kicks the tour (iterated local search).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from heedful.spec.seeds import generator

KICKS = 400
"""Kicks for fifty cells; fewer for more, so that the time stays about the same."""

I64 = NDArray[np.int64]
_NEVER = 1 << 30  # further than any cell
_FIRST = -1_000_000  # binds the empty place to the cell that the path must begin with


def nearest_neighbours(cells: int, away: Callable[[int], I64]) -> list[int]:
    """Return the path from cell 0 that always goes on to the nearest cell left.

    Args:
        cells: M, how many there are.
        away: Cell -> its distances to all, [M].
    """
    left = np.ones(cells, dtype=bool)
    path = [0]
    for _ in range(cells - 1):
        left[path[-1]] = False
        path.append(int(np.where(left, away(path[-1]), _NEVER).argmin()))
    return path


def improved_path(distances: I64, bound: int, at_first: bool) -> list[int]:
    """Return a short path over all M cells.

    Args:
        distances: [M, M], symmetric.
        bound: No path is shorter; the search stops when it has reached that.
        at_first: Whether the path must begin with cell 0.
    """
    cells = len(distances)
    closed = np.zeros((cells + 1, cells + 1), dtype=np.int64)
    closed[:cells, :cells] = distances
    if at_first:
        closed[cells, 0] = closed[0, cells] = _FIRST
        bound += _FIRST
    rng = generator(0, "staircase")  # the same kicks every time: equal cells, equal order
    begun = nearest_neighbours(cells, lambda cell: distances[cell])
    tour = _settled(np.asarray([*begun, cells], dtype=np.int64), closed)
    shortest, length = tour, _length(tour, closed)
    current = length
    for _ in range(KICKS * 50 * 50 // max(cells, 50) ** 2):
        if length <= bound:
            break
        kicked = _settled(_double_bridge(tour, rng), closed)
        reached = _length(kicked, closed)
        if reached <= current:
            tour, current = kicked, reached
        if reached < length:
            shortest, length = kicked, reached
    at = int(np.flatnonzero(shortest == cells)[0])
    path = [int(cell) for cell in np.roll(shortest, -at)[1:]]
    return path[::-1] if at_first and path[0] != 0 else path


def _length(tour: I64, closed: I64) -> int:
    return int(closed[tour, np.roll(tour, -1)].sum())


def _settled(tour: I64, closed: I64) -> I64:
    """Return ``tour`` after the best 2-opt and or-opt moves, until none shortens it."""
    while True:
        between = closed[np.ix_(tour, tour)]
        turn_gain, turned = _best_turn(tour, between)
        move_gain, moved = _best_move(tour, between)
        if max(turn_gain, move_gain) <= 0:
            return tour
        tour = turned if turn_gain >= move_gain else moved


def _best_turn(tour: I64, between: I64) -> tuple[int, I64]:
    """Return what the best 2-opt move saves, and the tour after it."""
    n = len(tour)
    edge = np.diagonal(np.roll(between, -1, axis=1))
    after = np.roll(between, (-1, -1), axis=(0, 1))
    gain = np.triu(edge[:, None] + edge[None, :] - between - after, 2)
    i, j = divmod(int(gain.argmax()), n)
    best = int(gain[i, j])
    if best <= 0:
        return 0, tour
    return best, np.concatenate([tour[: i + 1], tour[i + 1 : j + 1][::-1], tour[j + 1 :]])


def _best_move(tour: I64, between: I64) -> tuple[int, I64]:
    """Return what the best or-opt move saves, and the tour after it."""
    n = len(tour)
    at = np.arange(n)
    edge = np.diagonal(np.roll(between, -1, axis=1))
    best, found = 0, tour
    for size in range(1, min(3, n - 3) + 1):
        last, before, after = (at + size - 1) % n, (at - 1) % n, (at + size) % n
        saved = between[before, at] + between[last, after] - between[before, after]
        inside = (at[None, :] - before[:, None]) % n <= size  # the stretch, and the edges beside it
        for flipped in (False, True):
            head, tail = (last, at) if flipped else (at, last)
            added = between[at[:, None], head[None, :]] + between[(at + 1)[:, None] % n, tail[None, :]]
            gain = saved[:, None] - added.T + edge[None, :]
            gain[inside] = 0
            i, j = divmod(int(gain.argmax()), n)
            if gain[i, j] > best:
                best = int(gain[i, j])
                found = _moved(tour, i, size, j, flipped)
    return best, found


def _moved(tour: I64, i: int, size: int, j: int, flipped: bool) -> I64:
    """Return ``tour`` with the stretch of ``size`` from position i put behind position j."""
    rolled = np.roll(tour, -i)
    stretch, rest = rolled[:size], rolled[size:]
    cut = (j - i) % len(tour) - size + 1
    return np.concatenate([rest[:cut], stretch[::-1] if flipped else stretch, rest[cut:]])


def _double_bridge(tour: I64, rng: np.random.Generator) -> I64:
    """Return ``tour`` cut at three random places, its middle parts exchanged."""
    a, b, c = np.sort(rng.choice(np.arange(1, len(tour)), size=3, replace=False))
    return np.concatenate([tour[:a], tour[b:c], tour[a:b], tour[c:]])
