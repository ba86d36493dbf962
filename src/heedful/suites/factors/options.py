"""What a user can choose of the factors suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heedful.spec.errors import UserError
from heedful.spec.vocabulary import Vocabulary, load_vocabulary
from heedful.suites.given import checked, known, refuse_many


@dataclass(frozen=True)
class FactorsOptions:
    """The options, resolved.

    Attributes:
        pairs: Pairs in their published order, such as ``color,object``.
        rollouts: Conflict rollouts a pair, rounded up to whole units: both instructions of
            a scene, each with both arrangements (4; with ``spatial`` in the pair 2).
        in_distribution: Rollouts a pair on combinations seen in training.
        empty: Rollouts a pair with an empty instruction, on the first conflict scenes.
        demos: Demonstrations a pair.
        vocabulary: A shipped vocabulary or the path of a YAML file.
    """

    __pydantic_config__ = {"extra": "forbid"}

    pairs: tuple[str, ...] = ("color,object",)
    rollouts: int = 400
    in_distribution: int = 120
    empty: int = 60
    demos: int = 300
    vocabulary: str = "tabletop"

    def load(self) -> Vocabulary:
        """Return the vocabulary that these options name."""
        return load_vocabulary(self.vocabulary)


def resolve(given: Mapping[str, Any]) -> FactorsOptions:
    """Return ``given`` with defaults filled in.

    Args:
        given: Option -> value; ``pairs`` is ``"all"``, one pair or a list of pairs in any order.

    Raises:
        UserError: An unknown option or pair (the nearest valid one is suggested), or a
            number below zero or above MAX_COUNT.
    """
    found = known(FactorsOptions, given, "factors")
    vocabulary = load_vocabulary(str(found.get("vocabulary", FactorsOptions.vocabulary)))
    pairs = found.pop("pairs", FactorsOptions.pairs)
    if pairs is None or pairs == "" or pairs == [] or pairs == ():
        raise UserError("Option pairs of suite factors is empty; name a pair or 'all'.")
    if not isinstance(pairs, str | list | tuple) or not all(isinstance(p, str) for p in pairs):
        raise UserError(f"Option pairs of suite factors is {pairs!r}; name a pair, a list of pairs or 'all'.")
    if not isinstance(pairs, str) and "all" in pairs:
        if len(set(pairs)) > 1:
            others = " and ".join(repr(p) for p in pairs if p != "all")
            raise UserError(f"Option pairs of suite factors names 'all' and {others}; name one or the other.")
        pairs = "all"
    if pairs == "all":
        pairs = [b.name for b in vocabulary.bindings]
    elif isinstance(pairs, str):
        pairs = [pairs]
    found["pairs"] = list(dict.fromkeys(vocabulary.binding(p).name for p in pairs))
    options = checked(FactorsOptions, found, "factors")
    refuse_many(options, ("rollouts", "in_distribution", "empty", "demos"), "factors", "a pair")
    return options
