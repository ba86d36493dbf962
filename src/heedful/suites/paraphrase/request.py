"""A request taken apart: its verb and what follows it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from heedful.spec.errors import UserError
from heedful.spec.vocabulary import Vocabulary
from heedful.suites.paraphrase.lexicon import Lexicon, Verb, words

_NO_VERB_FIRST = frozenset(
    "a an the this that these those my your his her its our their i you he she it we they there here "
    "what which who whom whose where when why how is are was were am be been being do does did don't "
    "doesn't didn't have has had can could may might must shall should will would not never no let let's "
    "if once after before while until as because since then next first second finally and or but to in on "
    "at of with from into onto".split()
)
"""Words with which no plain affirmative imperative begins."""

_BREAKS = frozenset(
    "on in into onto to from with at under inside over off out up down near by beside behind between and "
    "then or while until without against toward towards".split()
)
"""Words after which the request says more than its object."""

_SECOND_VERB = re.compile(r"[,;]|\b(?:and|then|or|while|before|after)\b")


@dataclass(frozen=True)
class Request:
    """An imperative sentence.

    Attributes:
        text: The exact original.
        verb: Its verb, in small letters: ``lift``, ``turn on``.
        rest: Everything after it, without a full stop: ``the red cube``.
        known: What the lexicon knows of the verb; ``None`` if nothing.
        one_verb: No second verb can follow in ``rest``.
        object_only: ``rest`` is the object and nothing else.
        foreign: Words that a paraphrase may not use: they would say another request.
    """

    text: str
    verb: str
    rest: str
    known: Verb | None
    one_verb: bool
    object_only: bool
    foreign: frozenset[str] = frozenset()

    @property
    def capital(self) -> bool:
        """Return whether the original begins with a capital."""
        return self.text[:1].isupper()


def read_request(text: str, lexicon: Lexicon, vocabulary: Vocabulary | None = None) -> Request:
    """Return ``text`` taken apart.

    Args:
        text: One affirmative imperative sentence; a ``please`` before it is set aside.
        lexicon: Knows verbs of one and of two words, and nouns.
        vocabulary: What it can read is a request whose rest is its object.

    Raises:
        UserError: ``text`` is not one plain imperative sentence of at least two words.
    """
    plain = re.sub(r"[.!]+$", "", text.strip()).strip()
    plain = re.sub(r"^please[\s,]+", "", plain, flags=re.IGNORECASE)
    split = plain.split()
    if len(split) < 2 or re.search(r"[.!?\n]", plain) or split[0].lower().strip(",") in _NO_VERB_FIRST:
        raise UserError(
            f"{_short(text)!r} is not one plain request such as 'put the bowl on the stove': "
            "one sentence that begins with its verb and says what to act on."
        )
    taken = 2 if len(split) > 2 and " ".join(split[:2]).lower() in lexicon.verbs else 1
    verb, rest = " ".join(split[:taken]).lower(), " ".join(split[taken:])
    in_grammar = vocabulary is not None and _reads(vocabulary, plain)
    foreign = foreign_words(plain, vocabulary)
    one_verb = _SECOND_VERB.search(rest.lower()) is None
    only = in_grammar or (one_verb and _is_object(rest, lexicon))
    return Request(text, verb, rest, lexicon.verbs.get(verb), one_verb, only, foreign)


def foreign_words(text: str, vocabulary: Vocabulary | None) -> frozenset[str]:
    """Return the vocabulary's values that would make another request of ``text``, if it is one of it."""
    if vocabulary is None or not _reads(vocabulary, text):
        return frozenset()
    values = {value.casefold() for factor in vocabulary.grammar.factors for value in factor.values}
    return frozenset(values - set(words(text)))


def _reads(vocabulary: Vocabulary, text: str) -> bool:
    try:
        vocabulary.parse(text)
    except UserError:
        return False
    return True


def _is_object(rest: str, lexicon: Lexicon) -> bool:
    """Return whether ``rest`` is surely one noun phrase: ``the middle drawer of the cabinet``."""
    found = words(rest)
    ends_in_noun = any(found[-len(words(noun)) :] == words(noun) for noun in lexicon.nouns)
    return found[0] == "the" and ends_in_noun and not _BREAKS & set(found)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else flat[:57] + "..."
