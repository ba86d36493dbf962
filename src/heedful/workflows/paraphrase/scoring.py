"""The distance of paraphrases from their originals, of any pairs of texts and of a CSV file of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from heedful.language.kept import Kept
from heedful.language.lemmas import lemma_vectors
from heedful.language.minilm import F32, WIDTH
from heedful.language.parse import parse, readable
from heedful.metrics.pride import ALPHA, keyword_similarity, paraphrase_distance, structural_similarity
from heedful.spec.progress import Progress, silent
from heedful.spec.syntax import Parse, Tree

Remark = Literal["empty", "several_sentences", "no_keywords", "cut", "odd_white_space", "other_alphabet"]
REMARKS: tuple[Remark, ...] = get_args(Remark)
_SAID_EVERY = 200


@dataclass(frozen=True)
class PairScore:
    """How near a paraphrase is to its original.

    Attributes:
        original: The original's exact words.
        paraphrase: The paraphrase's exact words.
        keyword_similarity: S_K, in [-1, 1]; 0 where a side has no keywords.
        structural_similarity: S_T, in [0, 1].
        remarks: What a reader should know of either side, in the order of ``REMARKS``: it has
            no words; more than one sentence, of which the first gives the tree; words, but no
            keywords; more than is read; white space that is not one space between words;
            letters of another alphabet than the Latin, of which the parser knows nothing.
    """

    original: str
    paraphrase: str
    keyword_similarity: float
    structural_similarity: float
    remarks: tuple[Remark, ...] = ()

    def distance(self, alpha: float = ALPHA) -> float:
        """Return the paraphrase distance PD, at least 0; see ``metrics.pride``."""
        return paraphrase_distance(self.keyword_similarity, self.structural_similarity, alpha)


def score(
    pairs: Sequence[tuple[str, str]], kept: Kept | None = None, progress: Progress = silent
) -> list[PairScore]:
    """Return the similarity of each pair (original, paraphrase).

    Equal pairs are measured once; the value of a pair does not depend on its company.

    Args:
        pairs: Any number of pairs.
        kept: Where parses and word vectors of earlier processes are found and new ones kept,
            for example ``language.kept.kept_by_user()``; ``None``: nowhere.
        progress: Told every few texts and words.

    Raises:
        UserError: A model or a library is missing, or not the version that PRIDE is defined on.
    """
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    parsed = dict(zip(texts, parse(texts, kept=kept, progress=progress), strict=True))
    lemmas = [lemma for one in parsed.values() for lemma in one.keywords]
    vectors = lemma_vectors(lemmas, kept=kept, progress=progress)
    embedded = {text: _stacked(one, vectors) for text, one in parsed.items()}
    remarks = {text: _remarks(text, one) for text, one in parsed.items()}
    structural: dict[tuple[Tree, Tree], float] = {}  # many pairs share their two trees
    scores: dict[tuple[str, str], PairScore] = {}
    unique = list(dict.fromkeys(pairs))
    for done, pair in enumerate(unique, start=1):
        original, paraphrase = pair
        trees = parsed[original].tree, parsed[paraphrase].tree
        if trees not in structural:
            structural[trees] = structural_similarity(*trees)
        seen = remarks[original] | remarks[paraphrase]
        scores[pair] = PairScore(
            original,
            paraphrase,
            keyword_similarity(embedded[original], embedded[paraphrase]),
            structural[trees],
            tuple(remark for remark in REMARKS if remark in seen),
        )
        if done % _SAID_EVERY == 0 or done == len(unique):
            progress("compare", done, len(unique))
    return [scores[pair] for pair in pairs]


def _stacked(one: Parse, vectors: dict[str, F32]) -> F32:
    """Return the vectors of a text's keywords, [N, 384]."""
    if not one.keywords:
        return np.empty((0, WIDTH), dtype=np.float32)
    return np.stack([vectors[lemma] for lemma in one.keywords])


def _remarks(text: str, one: Parse) -> frozenset[Remark]:
    read = readable(text)
    found: dict[Remark, bool] = {
        "empty": not read,
        "several_sentences": one.sentences > 1,
        "no_keywords": bool(read) and not one.keywords,
        "cut": one.cut,
        "odd_white_space": bool(read) and read != text.lower(),
        "other_alphabet": not text.isascii() and any(map(_not_latin, text)),
    }
    return frozenset(remark for remark, holds in found.items() if holds)


def _not_latin(character: str) -> bool:
    return character.isalpha() and not unicodedata.name(character, "").startswith("LATIN")
