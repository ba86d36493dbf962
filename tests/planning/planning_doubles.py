"""Grids with any numbers of values, and slow but certain answers to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from heedful.spec.grammar import Factor
from heedful.spec.plan import Configuration, Grid, factor_changes

NAMES = ("color", "object", "spatial", "verb", "size")


def grid(*sizes: int, base: Sequence[int] | None = None) -> Grid:
    """Return a grid of the published factors with ``sizes`` values each, called color0, color1 ..."""
    factors = tuple(
        Factor(name, tuple(f"{name}{j}" for j in range(k))) for name, k in zip(NAMES, sizes, strict=False)
    )
    at = base or [0] * len(sizes)
    return Grid(factors, tuple(f.values[j] for f, j in zip(factors, at, strict=True)))


def least_by_trying(cells: Sequence[Configuration]) -> int:
    """Return the least f over every order of ``cells``."""
    return min(factor_changes(order) for order in permutations(cells))


def least_by_programme(cells: Sequence[Configuration]) -> int:
    """Return the least f over every order of ``cells``, proved by integer programming.

    A shortest closed tour through the cells and one empty place, with each subtour that the
    solver comes up with forbidden until it finds none (Dantzig, Fulkerson and Johnson).
    """
    import numpy as np
    from scipy.optimize import LinearConstraint, milp

    from heedful.spec.plan import distance

    n = len(cells) + 1
    edges = [(i, j) for i in range(n) for j in range(i + 1, n)]
    cost = np.array([distance(cells[i], cells[j]) if j < n - 1 else 0 for i, j in edges], dtype=float)
    degree = np.zeros((n, len(edges)))
    for e, (i, j) in enumerate(edges):
        degree[i, e] = degree[j, e] = 1
    rows, low, high = [*degree], [2.0] * n, [2.0] * n
    while True:
        limits = LinearConstraint(np.array(rows), np.array(low), np.array(high))
        found = milp(cost, constraints=limits, integrality=np.ones(len(edges)), bounds=(0, 1))
        chosen = [edges[e] for e in np.flatnonzero(found.x > 0.5)]
        parts = _parts(n, chosen)
        if len(parts) == 1:
            return round(found.fun)
        for part in parts:
            rows.append(np.array([float((i in part) and (j in part)) for i, j in edges]))
            low.append(0.0)
            high.append(len(part) - 1.0)


def _parts(n: int, edges: Sequence[tuple[int, int]]) -> list[set[int]]:
    parts: list[set[int]] = [{i} for i in range(n)]
    for i, j in edges:
        one = next(p for p in parts if i in p)
        two = next(p for p in parts if j in p)
        if one is not two:
            parts.remove(two)
            one |= two
    return parts
