"""The object of a request in other words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from heedful.spec.paraphrase import ObjectType
from heedful.suites.paraphrase.lexicon import Kind, Lexicon


@dataclass(frozen=True)
class _Place:
    """A part of the text that may be replaced, and by what."""

    start: int
    end: int
    choices: tuple[str, ...]


def object_wordings(text: str, kind: ObjectType, lexicon: Lexicon, rng: np.random.Generator) -> list[str]:
    """Return ``text``, the object of a request and what follows it, in other words of one kind.

    Those with one replacement come first, then those with two, each in random order.

    Args:
        text: For example ``the red cube on the left of the table``.
        kind: ``none`` returns ``text`` alone.
        lexicon: The words.
        rng: Draws the order.

    >>> from heedful.suites.paraphrase.lexicon import load_lexicon
    >>> object_wordings("the bowl", "same_polarity_habitual", load_lexicon(), np.random.default_rng(0))
    ['the basin', 'the dish']
    """
    if kind == "none":
        return [text]
    places = _places(text, kind, lexicon)
    found: list[str] = []
    for count in (1, 2):
        batch = [
            _replaced(text, chosen, replacements)
            for chosen in itertools.combinations(places, count)
            for replacements in itertools.product(*(place.choices for place in chosen))
        ]
        found += [batch[i] for i in rng.permutation(len(batch))]
    return list(dict.fromkeys(found))


def _places(text: str, kind: Kind, lexicon: Lexicon) -> list[_Place]:
    """Return where ``text`` may be replaced, from left to right; longer terms win."""
    found: list[_Place] = []
    terms = sorted(lexicon.terms.items(), key=lambda item: -len(item[0]))
    for term, entry in terms:
        choices = entry.substitutes(term, kind)
        for start, end in _occurrences(term, text):
            if all(end <= p.start or start >= p.end for p in found):
                found.append(_Place(start, end, choices))  # without choices it still bars shorter terms
    if kind == "addition_deletion":
        within_phrase = [span for phrase in lexicon.phrases for span in _occurrences(phrase, text)]
        for start, end in _occurrences("the", text):
            if _may_point(text[end:]) and not any(s <= start < e for s, e in within_phrase):
                found.append(_Place(start, end, ("that",)))
    return sorted((p for p in found if p.choices), key=lambda p: p.start)


def _may_point(following: str) -> bool:
    """Return whether ``that`` may stand for the article before ``following``.

    Not before a plural, a superlative, or a part named with ``of``: ``the front of the stove``.
    """
    noun_phrase = re.split(r"\b(?:the|and|then|on|in|into|onto|to|inside|from|with|at|of)\b", following)[0]
    found = noun_phrase.lower().split()
    return (
        bool(found)
        and not re.search(r"(?<![siu])s$", found[-1])
        and not found[0].endswith("est")
        and re.match(r"\s+[\w-]+ of\b", following) is None
    )


def _occurrences(term: str, text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(rf"(?<![\w-]){re.escape(term)}(?![\w-])", text, flags=re.IGNORECASE):
        yield match.span()


def _replaced(text: str, places: tuple[_Place, ...], replacements: tuple[str, ...]) -> str:
    for place, words in sorted(zip(places, replacements, strict=True), key=lambda item: -item[0].start):
        text = text[: place.start] + words + text[place.end :]
    return text
