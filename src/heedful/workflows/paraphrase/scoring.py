"""The distance of paraphrases from their originals, of any pairs of texts and of a CSV file of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from heedful.language.kept import Kept
from heedful.language.parse import readable
from heedful.language.read_texts import read_texts
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
    read = read_texts((text for pair in pairs for text in pair), kept, progress)
    remarks = {text: _remarks(text, one.parse) for text, one in read.items()}
    structural: dict[tuple[Tree, Tree], float] = {}  # many pairs share their two trees
    scores: dict[tuple[str, str], PairScore] = {}
    unique = list(dict.fromkeys(pairs))
    for done, pair in enumerate(unique, start=1):
        original, paraphrase = pair
        trees = read[original].parse.tree, read[paraphrase].parse.tree
        if trees not in structural:
            structural[trees] = structural_similarity(*trees)
        seen = remarks[original] | remarks[paraphrase]
        scores[pair] = PairScore(
            original,
            paraphrase,
            keyword_similarity(read[original].vectors, read[paraphrase].vectors),
            structural[trees],
            tuple(remark for remark in REMARKS if remark in seen),
        )
        if done % _SAID_EVERY == 0 or done == len(unique):
            progress("compare", done, len(unique))
    return [scores[pair] for pair in pairs]


def _remarks(text: str, one: Parse) -> frozenset[Remark]:
    words = readable(text)
    found: dict[Remark, bool] = {
        "empty": not words,
        "several_sentences": one.sentences > 1,
        "no_keywords": bool(words) and not one.keywords,
        "cut": one.cut,
        "odd_white_space": bool(words) and words != text.lower(),
        "other_alphabet": not text.isascii() and any(map(_not_latin, text)),
    }
    return frozenset(remark for remark, holds in found.items() if holds)


def _not_latin(character: str) -> bool:
    return character.isalpha() and not unicodedata.name(character, "").startswith("LATIN")
