from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.metrics.tree_distance import _mirrored, tree_edit_distance
from heedful.spec.syntax import Tree

LABELS = st.sampled_from("abc")


def trees(nodes: int) -> st.SearchStrategy[Tree]:
    """Trees of any shape with 1 to ``nodes`` nodes, the shape drawn as each node's depth in preorder."""
    return st.lists(st.tuples(LABELS, st.integers(0, 3)), min_size=1, max_size=nodes).map(_tree)


def _tree(drawn: list[tuple[str, int]]) -> Tree:
    """Hang each node on a node of the rightmost path, as deep as was drawn."""
    path: list[tuple[str, list[Tree]]] = [(drawn[0][0], [])]

    def close(depth: int) -> None:
        while len(path) > depth:
            label, children = path.pop()
            path[-1][1].append(Tree.of(label, *children))

    for label, depth in drawn[1:]:
        close(max(1, min(depth, len(path))))
        path.append((label, []))
    close(1)
    return Tree.of(path[0][0], *path[0][1])


def brute_force(first: Tree, second: Tree) -> int:
    """The cheapest mapping of nodes that keeps order and ancestors (Tai, 1979), all of them tried."""

    def under(tree: Tree, node: int, other: int) -> bool:
        return tree.leftmost[other] <= node <= other

    def tried(i: int, taken: tuple[tuple[int, int], ...]) -> int:
        if i == len(first):
            return len(second) - len(taken)
        best = 1 + tried(i + 1, taken)
        for j in range(taken[-1][1] + 1 if taken else 0, len(second)):
            if all(under(first, x, i) == under(second, y, j) for x, y in taken):
                relabelled = first.labels[i] != second.labels[j]
                best = min(best, relabelled + tried(i + 1, (*taken, (i, j))))
        return best

    return tried(0, ())


@given(trees(6), trees(6))
@settings(max_examples=150, deadline=None)
def test_it_is_the_cheapest_of_all_mappings(first: Tree, second: Tree) -> None:
    assert tree_edit_distance(first, second) == brute_force(first, second)


@given(trees(12), trees(12), trees(12))
@settings(deadline=None)
def test_it_is_a_metric(first: Tree, second: Tree, third: Tree) -> None:
    distance = cache(tree_edit_distance)
    assert distance(first, first) == 0
    assert (distance(first, second) == 0) == (first == second)
    assert distance(first, second) == distance(second, first)
    assert distance(first, third) <= distance(first, second) + distance(second, third)


@given(trees(20), trees(20))
@settings(deadline=None)
def test_it_is_bounded_by_the_sizes(first: Tree, second: Tree) -> None:
    found = tree_edit_distance(first, second)
    assert abs(len(first) - len(second)) <= found <= len(first) + len(second)
    # Where all labels differ nothing can be kept, but a root can always become the other root.
    assert found <= len(first) + len(second) - 1


@given(trees(20), trees(20))
@settings(deadline=None)
def test_mirroring_both_trees_changes_nothing(first: Tree, second: Tree) -> None:
    assert _mirrored(_mirrored(first)) == first
    assert tree_edit_distance(_mirrored(first), _mirrored(second)) == tree_edit_distance(first, second)


def test_empty_trees() -> None:
    tree = Tree.of("a", Tree.of("b"))
    assert tree_edit_distance(Tree(), Tree()) == 0
    assert tree_edit_distance(Tree(), tree) == tree_edit_distance(tree, Tree()) == 2


def test_the_published_example() -> None:
    """Zhang and Shasha (1989), figure 4: one node deleted, one inserted."""
    first = Tree.of("f", Tree.of("d", Tree.of("a"), Tree.of("c", Tree.of("b"))), Tree.of("e"))
    second = Tree.of("f", Tree.of("c", Tree.of("d", Tree.of("a"), Tree.of("b"))), Tree.of("e"))
    assert tree_edit_distance(first, second) == 2


def test_long_chains_that_lean_to_either_side_are_mirrored_when_that_is_cheaper() -> None:
    def comb(labels: str) -> Tree:
        """Every node has the chain as its right child, which makes every node a keyroot."""
        tree = Tree.of(labels[0])
        for label in labels[1:]:
            tree = Tree.of(label, Tree.of("leaf"), tree)
        return tree

    first, second = comb("ab" * 50), comb("ab" * 49 + "xy")
    assert tree_edit_distance(first, second) == 2


def test_postorder_of_a_built_tree() -> None:
    tree = Tree.of("r", Tree.of("x", Tree.of("1"), Tree.of("2")), Tree.of("y"))
    assert "".join(tree.labels) == "12xyr"
    assert tree.leftmost == (0, 1, 0, 3, 0)
    assert all(leaf <= node for node, leaf in enumerate(tree.leftmost))
