"""What a parser says of a text: its keywords and the tree of its first sentence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tree:
    """An ordered, labelled tree, its nodes in postorder: children before their parent.

    Attributes:
        labels: Label of each node, [N]; the root is the last; none for the empty tree.
        leftmost: For each node the position of the first leaf below it, itself for a leaf, [N].
    """

    labels: tuple[str, ...] = ()
    leftmost: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    @staticmethod
    def of(label: str, *children: Tree) -> Tree:
        """Return the tree with this root and these subtrees, in their order.

        >>> Tree.of("verb", Tree.of("article"), Tree.of("noun")).leftmost
        (0, 1, 0)
        """
        labels: list[str] = []
        leftmost: list[int] = []
        for child in children:
            shift = len(labels)
            labels += child.labels
            leftmost += (shift + at for at in child.leftmost)
        return Tree((*labels, label), (*leftmost, 0))


@dataclass(frozen=True)
class Parse:
    """A parsed text.

    Attributes:
        keywords: Lemmas of its nouns, verbs, adjectives, adverbs and proper nouns, in their
            order, repetitions kept.
        tree: The first sentence's tree; a label is the dependency and the part of speech.
        sentences: Sentences found; only the first is in ``tree``.
        cut: Whether the text was longer than what was read of it.
    """

    keywords: tuple[str, ...]
    tree: Tree
    sentences: int
    cut: bool = False
