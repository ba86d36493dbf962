"""How near paraphrases are to their originals, where the models for it are installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from heedful.language.kept import Kept, kept_by_user
from heedful.language.lemmas import lemma_vectors
from heedful.language.minilm import F32, WIDTH
from heedful.language.parse import parse
from heedful.metrics.pride import keyword_similarity, structural_similarity
from heedful.spec.errors import UserError
from heedful.spec.syntax import Parse

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
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    parsed = dict(zip(texts, parse(texts, kept=kept), strict=True))
    vectors = lemma_vectors([lemma for one in parsed.values() for lemma in one.keywords], kept=kept)
    keywords = {text: _stacked(one, vectors) for text, one in parsed.items()}
    return {
        (original, text): (
            keyword_similarity(keywords[original], keywords[text]),
            structural_similarity(parsed[original].tree, parsed[text].tree),
        )
        for original, text in pairs
    }


def _stacked(one: Parse, vectors: Mapping[str, F32]) -> F32:
    """Return the vectors of a text's keywords, [N, 384]."""
    if not one.keywords:
        return np.empty((0, WIDTH), dtype=np.float32)
    return np.stack([vectors[lemma] for lemma in one.keywords])
