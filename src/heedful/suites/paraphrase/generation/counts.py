"""How many questions and candidates came to which end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Counts:
    """Ends of the questions and candidates of one cell, or of several together.

    Attributes:
        asked: Questions to the generator.
        refused: Of these, declined.
        truncated: Of these, cut off.
        malformed: Of these, not of the form asked for.
        verifier_asked: Questions to the verifier.
        verifier_refused: Of these, declined.
        verifier_truncated: Of these, cut off.
        verifier_malformed: Of these, not of the form asked for.
        candidates: Texts in well-formed answers of the generator.
        surplus: Of these, more than were asked for: dropped.
        flawed: Of these, no instruction at all (several lines, markup ...).
        foreign: Of these, which say a word of another request of the vocabulary.
        repeated: Of these, the original or another wording of this instruction again.
        unverified: Of these, about which the verifier gave no well-formed answer.
        rejected: Of these, which the verifier found wanting.
        verified: Of these, found good. With the six before, they add up to ``candidates``.
    """

    asked: int = 0
    refused: int = 0
    truncated: int = 0
    malformed: int = 0
    verifier_asked: int = 0
    verifier_refused: int = 0
    verifier_truncated: int = 0
    verifier_malformed: int = 0
    candidates: int = 0
    surplus: int = 0
    flawed: int = 0
    foreign: int = 0
    repeated: int = 0
    unverified: int = 0
    rejected: int = 0
    verified: int = 0


NAMES = tuple(field.name for field in fields(Counts))


def counted(tally: Mapping[str, int]) -> Counts:
    """Return a running tally, by the names of ``Counts``, as a value."""
    return Counts(**tally)


def summed(parts: Iterable[Counts]) -> Counts:
    """Return the sum of ``parts``, field by field."""
    tally: Counter[str] = Counter()
    for part in parts:
        tally.update({name: getattr(part, name) for name in NAMES})
    return counted(tally)
