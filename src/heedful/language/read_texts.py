"""Texts as PRIDE reads them: the dependency parse, and a vector for each keyword."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from heedful.language.kept import Kept
from heedful.language.lemmas import lemma_vectors
from heedful.language.minilm import F32, WIDTH
from heedful.language.parse import parse
from heedful.spec.progress import Progress, silent
from heedful.spec.syntax import Parse


@dataclass(frozen=True, eq=False)
class ReadText:
    """One text.

    Attributes:
        parse: Its keywords and its tree.
        vectors: [N, 384] unit vectors of the keywords, in their order.
    """

    parse: Parse
    vectors: F32


def read_texts(
    texts: Iterable[str], kept: Kept | None = None, progress: Progress = silent
) -> dict[str, ReadText]:
    """Return each different text as it is read.

    Args:
        texts: Any number; equal ones are read once.
        kept: Where parses and vectors of earlier processes are found and new ones kept.
        progress: Told every few texts and words.

    Raises:
        UserError: A model or a library is missing, or not the version that PRIDE is defined on.
    """
    wanted = list(dict.fromkeys(texts))
    parsed = parse(wanted, kept=kept, progress=progress)
    vectors = lemma_vectors([lemma for one in parsed for lemma in one.keywords], kept=kept, progress=progress)
    return {
        text: ReadText(
            one,
            np.stack([vectors[lemma] for lemma in one.keywords])
            if one.keywords
            else np.empty((0, WIDTH), dtype=np.float32),
        )
        for text, one in zip(wanted, parsed, strict=True)
    }
