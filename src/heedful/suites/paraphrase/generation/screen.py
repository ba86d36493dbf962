"""What can be told about a candidate without asking anybody."""

from __future__ import annotations

import re
import unicodedata

MAX_LENGTH = 300
"""Letters of the longest candidate; an instruction is a sentence, not a page."""
_SENTENCE_END = ".!?…"
_WORD = re.compile(r"[^\W_]+")
_LISTED = re.compile(r"\s*(?:[-*•#>]|\(?\d+[.)])\s")
_ODD_KINDS = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def wording(text: str) -> str:
    """Return what two texts share when they differ in capitals, spaces or their last stop only.

    >>> wording("Lift  the cup.") == wording("lift the cup")
    True
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return plain.rstrip(_SENTENCE_END + " ")


def said(text: str) -> frozenset[str]:
    """Return the words of ``text`` in small letters."""
    return frozenset(_WORD.findall(text.casefold()))


def tidy(text: str) -> str:
    """Return ``text`` without spaces around it and with single ones inside; lines stay lines."""
    return re.sub(r"[ \t\u00a0]+", " ", text).strip()


def flaw(text: str) -> str | None:
    """Return why ``text`` cannot be an instruction at all; ``None`` if it can.

    Args:
        text: A tidied candidate.
    """
    if not any(letter.isalpha() for letter in text):
        return "no words"
    if len(text) > MAX_LENGTH:
        return "too long"
    if any(unicodedata.category(letter) in _ODD_KINDS for letter in text):
        return "line breaks or invisible characters"
    if _LISTED.match(text) or text[0] in '[{<`"“' or "```" in text:
        return "markup"
    return None
