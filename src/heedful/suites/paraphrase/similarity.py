"""How near paraphrases are to their originals, where the models for it are installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from heedful.language.kept import Kept, kept_by_user
from heedful.language.read_texts import read_texts
from heedful.metrics.pride import keyword_similarity, structural_similarity
from heedful.spec.errors import UserError

Pair = tuple[str, str]
"""An original and a paraphrase."""


def similarities(pairs: Iterable[Pair]) -> tuple[Mapping[Pair, tuple[float, float]], str]:
    """Return each pair's keyword and structural similarity, and why there are none, if so.

    Args:
        pairs: Any number; equal ones are measured once.
    """
    wanted = list(dict.fromkeys(pairs))
    if not wanted:
        return {}, ""
    try:
        return _measured(wanted, kept_by_user()), ""
    except UserError as error:
        return {}, str(error)


def _measured(pairs: Sequence[Pair], kept: Kept) -> dict[Pair, tuple[float, float]]:
    read = read_texts((text for pair in pairs for text in pair), kept)
    return {
        (original, text): (
            keyword_similarity(read[original].vectors, read[text].vectors),
            structural_similarity(read[original].parse.tree, read[text].parse.tree),
        )
        for original, text in pairs
    }
