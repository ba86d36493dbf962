"""Whether a run asks policies about factors that they were never taught."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from heedful.policies.taught import taught_instructions
from heedful.spec.case import Case, PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.grammar import Instruction
from heedful.spec.run import RunSpec
from heedful.spec.vocabulary import Vocabulary, load_vocabulary

Values = Mapping[str, Sequence[str]]
"""Factor -> its values."""


def untaught(spec: RunSpec, cases: Sequence[Case]) -> list[str]:
    """Return for every policy of ``spec``, in order, what it is asked about and was not taught.

    A pair or grid of factors was taught if, over the instructions that name all of its factors,
    every value occurs that its training set (or the grid) has. A policy trained on another pair
    may know some of the words, but not what to do with all of them.

    Args:
        spec: The run, resolved.
        cases: Its cases.

    Returns:
        ``was not taught color,object (taught: verb,size)``; empty where nothing is missing, or
        where the policy or the suite does not say.
    """
    if not spec.policies or "vocabulary" not in spec.options:
        return [""] * len(spec.policies)
    vocabulary = load_vocabulary(str(spec.options["vocabulary"]))
    return [_untaught(entry, cases, vocabulary) for entry in spec.policies]


def _untaught(entry: PolicyEntry, cases: Sequence[Case], vocabulary: Vocabulary) -> str:
    texts = taught_instructions(entry.ref)
    if not texts:
        return ""
    known = _parsed(texts, vocabulary)
    asked = dict.fromkeys(place for case in cases if entry.meets(case) and (place := _place(case)))
    lacking = {
        name: found for kind, name in asked if (found := _lacking(known, _values(kind, name, vocabulary)))
    }
    if not lacking:
        return ""
    pairs = [b.name for b in vocabulary.bindings if not _lacking(known, _values("pair", b.name, vocabulary))]
    several = f"{len(texts)} instructions, such as " if len(texts) > 1 else ""
    taught = " and ".join(pairs) or f"{several}{texts[0]!r}"
    names = " and ".join(lacking)
    if pairs or len(lacking) > 1:
        return f"was not taught {names} (taught: {taught})"
    return f"was not taught {names}: not {', '.join(lacking[names])} (taught: {taught})"


def _place(case: Case) -> tuple[str, str] | None:
    """Return what a case is about: the kind, and the factors between commas."""
    return next(((kind, case.scoring[kind]) for kind in ("pair", "grid") if kind in case.scoring), None)


def _values(kind: str, name: str, vocabulary: Vocabulary) -> Values:
    """Return the values that a pair's training set or a grid has."""
    if kind == "grid":
        return {factor: vocabulary.grammar.factor(factor).values for factor in name.split(",")}
    binding = vocabulary.binding(name)
    return {factor: [bound[i] for bound in binding.bound] for i, factor in enumerate(binding.factors)}


def _lacking(known: Iterable[Instruction], wanted: Values) -> list[str]:
    """Return the ``wanted`` values that no instruction names together with all of the other factors."""
    naming = [one.values for one in known if set(wanted) <= set(one.values)]
    return [
        value
        for factor, values in wanted.items()
        for value in values
        if all(named[factor] != value for named in naming)
    ]


def _parsed(texts: Iterable[str], vocabulary: Vocabulary) -> list[Instruction]:
    """Return those of ``texts`` that the vocabulary can have worded."""
    found = []
    for text in texts:
        try:
            found.append(vocabulary.parse(text))
        except UserError:
            continue
    return found
