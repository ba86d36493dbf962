"""The rules that every paraphrase keeps, whatever made it."""

from __future__ import annotations

import itertools
import re

from heedful.suites.paraphrase.generation.screen import wording
from heedful.suites.paraphrase.lexicon import words

_NUMBERS = frozenset("two three four five six seven eight nine ten both all every each some several".split())


def broken_rule(original: str, text: str, foreign: frozenset[str] = frozenset()) -> str:
    """Return the rule that ``text`` breaks as a paraphrase of ``original``; empty if none.

    Args:
        original: The original's exact words.
        text: The paraphrase.
        foreign: Words that would say another request of the grammar.
    """
    if not text.strip() or text != text.strip():
        return "it has words and no space around them"
    if wording(text) == wording(original):
        return "it differs from the original"
    if re.search(r"[.!?]\s|\n", text):
        return "it is one sentence"
    found = words(text)
    doubled = [a for a, b in itertools.pairwise(found) if a == b]
    if doubled:
        return f"no word stands twice: {doubled[0]!r}"
    for article, noun in itertools.pairwise(found):
        if article in ("a", "an") and (article == "an") != (noun[0] in "aeiou"):
            return f"a or an: {article} {noun}"
    if _numbers(found) != _numbers(words(original)):
        return "the number is kept"
    said = foreign & set(found)
    if said:
        return f"it says nothing of another request: {min(said)!r}"
    return ""


def _numbers(found: list[str]) -> list[str]:
    return sorted(word for word in found if word.isdigit() or word in _NUMBERS)
