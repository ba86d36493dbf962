"""The lexicon of the offline paraphrases: reviewed words and sentence templates, read from YAML."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from heedful.spec.codec import from_json
from heedful.spec.errors import UserError, unknown
from heedful.spec.grammar import Grammar
from heedful.spec.paraphrase import ACTION_AXIS, ACTION_TYPES, ActionType
from heedful.spec.yaml_file import read_yaml

SHIPPED = Path(__file__).parent / "lexicon.yaml"
SLOTS = ("do", "doing", "did", "do_it", "object", "Object", "done")
"""What a sentence template may leave open; ``lexicon.yaml`` explains them."""

Kind = Literal["addition_deletion", "same_polarity_contextual", "same_polarity_habitual"]
"""In which way a word or phrase is replaced."""

_TEMPLATED: tuple[ActionType, ...] = (
    "addition_deletion",
    *(a for a in ACTION_TYPES if ACTION_AXIS[a] in ("structural", "pragmatic")),
)


@dataclass(frozen=True)
class Verb:
    """What is known of a verb.

    Attributes:
        participle: ``lifted``; empty when the verb is used in its plain form only.
        gerund: ``lifting``; empty likewise.
        habitual: Ordinary synonyms; ``{object}`` where the object does not go last.
        contextual: Verbs that mean the same only on this table.
    """

    __pydantic_config__ = {"extra": "forbid"}

    participle: str = ""
    gerund: str = ""
    habitual: tuple[str, ...] = ()
    contextual: tuple[str, ...] = ()


@dataclass(frozen=True)
class Term:
    """What may stand for a noun, an adjective or a phrase.

    Attributes:
        additions: Words set before it.
        shorter: The same with words left out.
        habitual: Ordinary synonyms.
        contextual: Words that mean the same only on this table.
    """

    __pydantic_config__ = {"extra": "forbid"}

    additions: tuple[str, ...] = ()
    shorter: tuple[str, ...] = ()
    habitual: tuple[str, ...] = ()
    contextual: tuple[str, ...] = ()

    def substitutes(self, term: str, kind: Kind) -> tuple[str, ...]:
        """Return what may stand for ``term``, in the way of ``kind``."""
        if kind == "addition_deletion":
            return (*(f"{added} {term}" for added in self.additions), *self.shorter)
        return self.contextual if kind == "same_polarity_contextual" else self.habitual


@dataclass(frozen=True)
class Lexicon:
    """Words and sentences, by section.

    Attributes:
        verbs: Verb as it stands in a request -> what is known of it.
        nouns, adjectives, phrases: Term -> what may stand for it.
        actions: Action type -> sentence templates.
    """

    __pydantic_config__ = {"extra": "forbid"}

    verbs: Mapping[str, Verb]
    nouns: Mapping[str, Term]
    adjectives: Mapping[str, Term]
    phrases: Mapping[str, Term]
    actions: Mapping[str, tuple[str, ...]]

    @property
    def terms(self) -> Mapping[str, Term]:
        """Return all nouns, adjectives and phrases."""
        return {**self.nouns, **self.adjectives, **self.phrases}


@cache
def load_lexicon(path: Path = SHIPPED) -> Lexicon:
    """Return the lexicon in the YAML file ``path``.

    Raises:
        UserError: The file cannot be read, has an unknown key or slot, lacks an action type,
            or lists a word twice for one meaning.
    """
    found = from_json(Lexicon, read_yaml(path, f"Cannot read lexicon {path}"), where=str(path))
    for action in found.actions:
        if action not in _TEMPLATED:
            raise unknown("action type with templates", action, _TEMPLATED)
    missing = [action for action in _TEMPLATED if not found.actions.get(action)]
    if missing:
        raise UserError(f"Lexicon {path} has no templates for {', '.join(missing)}.")
    for template in itertools.chain(*found.actions.values()):
        for slot in slots(template):
            if slot not in SLOTS:
                raise unknown("slot of a template", slot, SLOTS)
    _refuse_repeats(found, path)
    return found


def slots(template: str) -> tuple[str, ...]:
    """Return the slots of ``template`` in order.

    >>> slots("find {object} and {do_it}")
    ('object', 'do_it')
    """
    return tuple(re.findall(r"\{(\w*)\}", template))


def check_against(lexicon: Lexicon, grammar: Grammar) -> None:
    """Refuse a lexicon that words one value of ``grammar`` like another.

    Two values of a factor may not share a substitute, and no substitute may be a value or
    contain one other than its own.

    Raises:
        UserError: It does; the line names the word.
    """
    values = {value for factor in grammar.factors for value in factor.values}
    for factor in grammar.factors:
        owner: dict[str, str] = {}
        for value in factor.values:
            for word in _words_for(lexicon, value):
                other = owner.setdefault(word, value)
                if other != value:
                    raise UserError(f"Lexicon: {word!r} stands for {value!r} and for {other!r}.")
                taken = (values - {value}) & set(words(word))
                if taken:
                    raise UserError(f"Lexicon: {word!r}, for {value!r}, says {min(taken)!r}.")


def words(text: str) -> list[str]:
    """Return the lower-case words of ``text``; hyphens part them.

    >>> words("Don't lift the red-colored cube?")
    ["don't", 'lift', 'the', 'red', 'colored', 'cube']
    """
    return re.findall(r"[^\W_]+(?:'[^\W_]+)?", text.lower())


def _words_for(lexicon: Lexicon, value: str) -> Iterable[str]:
    """Return everything that may stand for a factor value by itself."""
    if value in lexicon.verbs:
        yield from (*lexicon.verbs[value].habitual, *lexicon.verbs[value].contextual)
    for term, entry in lexicon.terms.items():
        if term == value or (term in lexicon.phrases and value in words(term)):
            yield from (*entry.shorter, *entry.habitual, *entry.contextual)


def _refuse_repeats(lexicon: Lexicon, path: Path) -> None:
    entries: list[tuple[str, Verb | Term]] = [*lexicon.verbs.items(), *lexicon.terms.items()]
    for name, entry in entries:
        found = [name, *entry.habitual, *entry.contextual]
        if isinstance(entry, Term):
            found += entry.substitutes(name, "addition_deletion")
        repeated = {word for word in found if found.count(word) > 1}
        if repeated:
            raise UserError(f"Lexicon {path}: {name!r} lists {min(repeated)!r} more than once.")
