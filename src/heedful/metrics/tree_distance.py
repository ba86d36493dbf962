"""The edit distance between ordered, labelled trees."""

from __future__ import annotations

from heedful.spec.syntax import Tree


def tree_edit_distance(first: Tree, second: Tree) -> int:
    """Return the least number of nodes to delete, insert or relabel that turns one tree into the other.

    Every edit costs 1. A metric: 0 only between equal trees, symmetric, and it keeps the
    triangle inequality; never below the difference of the sizes nor above their sum. Time
    grows with the product of sizes times the product of depths (or of leaves, if fewer).

    Args:
        first: A tree of m nodes, possibly none.
        second: A tree of n nodes, possibly none.

    Source: Zhang and Shasha, "Simple fast algorithms for the editing distance between trees and
    related problems", SIAM Journal on Computing 18 (1989).

    >>> tree_edit_distance(Tree.of("a", Tree.of("b")), Tree.of("a", Tree.of("c"), Tree.of("b")))
    1
    """
    if first == second:
        return 0
    if not len(first) or not len(second):
        return len(first) + len(second)
    if _steps(first) * _steps(second) > _WORTH_A_LOOK:
        mirrored = _mirrored(first), _mirrored(second)
        if _steps(mirrored[0]) * _steps(mirrored[1]) < _steps(first) * _steps(second):
            first, second = mirrored
    between = [[0] * len(second) for _ in first.labels]  # distances of the subtrees below i and j
    for i in _keyroots(first):
        for j in _keyroots(second):
            _fill(between, first, second, i, j)
    return between[-1][-1]


_WORTH_A_LOOK = 20_000  # steps; mirroring costs about as much


def _steps(tree: Tree) -> int:
    """Return the factor by which the tree makes the work longer: it adds up over its keyroots."""
    return sum(node - tree.leftmost[node] + 1 for node in _keyroots(tree))


def _mirrored(tree: Tree) -> Tree:
    """Return the tree with the children of every node in the opposite order; distances stay the same."""
    below: list[Tree] = []  # the mirrored subtrees whose parent is still to come
    for label, leaf in zip(tree.labels, tree.leftmost, strict=True):
        children: list[Tree] = []
        while below and sum(map(len, below)) > leaf:
            children.append(below.pop())
        below.append(Tree.of(label, *children))
    return below[0]


def _keyroots(tree: Tree) -> list[int]:
    """Return the nodes that are the root or have a sibling to their left, in postorder."""
    return sorted({leaf: node for node, leaf in enumerate(tree.leftmost)}.values())


def _fill(between: list[list[int]], first: Tree, second: Tree, i: int, j: int) -> None:
    """Fill in the distances of all subtrees that begin at the first leaves below ``i`` and ``j``.

    ``rows[x][y]`` is the distance between the forest of the first x nodes below ``i`` and that
    of the first y nodes below ``j``.
    """
    left, others = first.leftmost, second.leftmost
    start, begin = left[i], others[j]
    labels = second.labels
    rows = [list(range(j - begin + 2))]
    for x in range(start, i + 1):
        above = rows[-1]
        last = above[0] + 1
        row = [last]
        rows.append(row)
        whole, label, subtree = left[x] == start, first.labels[x], between[x]
        before = rows[left[x] - start]
        for y in range(begin, j + 1):
            at = y - begin
            best = min(last, above[at + 1]) + 1
            other = others[y]
            if whole and other == begin:
                matched = above[at] + (label != labels[y])
                last = subtree[y] = min(matched, best)
            else:
                matched = before[other - begin] + subtree[y]
                last = min(matched, best)
            row.append(last)
