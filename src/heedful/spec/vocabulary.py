"""A grammar with its training sets: which values are bound to each other, and how scenes show them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Literal

from heedful.spec.codec import from_json
from heedful.spec.errors import UserError, unknown
from heedful.spec.grammar import Factor, FactorKind, Grammar, Instruction
from heedful.spec.scene import ObjectSpec
from heedful.spec.yaml_file import read_yaml

Carriers = Mapping[str, tuple[str, ...]]
"""Factor that an instruction names but that says nothing -> the values it takes in turn."""
PairKind = Literal["object_object", "verb_object"]
ATTRIBUTES = tuple(f.name for f in fields(ObjectSpec) if f.name != "name")
_SHIPPED = Path(__file__).parent / "vocabularies"


def carrier_choices(carriers: Carriers) -> tuple[dict[str, str], ...]:
    """Return every combination of carrier values; one empty choice where nothing is carried."""
    return tuple(dict(zip(carriers, values, strict=True)) for values in itertools.product(*carriers.values()))


@dataclass(frozen=True)
class Binding:
    """The training set of one pair of factors: values that always go together.

    Attributes:
        factors: The two factors, in published order; an action factor comes first.
        bound: Value combinations that occur in training, each value at most once.
        carriers: Other factors that are named, with their values; they occur with every
            combination, so they say nothing about the pair.
        kind: ``verb_object`` when the first factor says what to do.
    """

    factors: tuple[str, str]
    bound: tuple[tuple[str, str], ...]
    carriers: Carriers
    kind: PairKind

    @property
    def name(self) -> str:
        """Return the pair as results name it: ``color,object``."""
        return ",".join(self.factors)

    @property
    def slug(self) -> str:
        """Return the pair as ids and folders name it: ``color-object``."""
        return "-".join(self.factors)

    @property
    def object_factors(self) -> tuple[str, ...]:
        """Return those of the two factors that describe an object."""
        return self.factors[1:] if self.kind == "verb_object" else self.factors

    def combination(self, factor: str, value: str) -> tuple[str, str] | None:
        """Return the bound combination in which ``factor`` has ``value``; ``None`` if it has none."""
        column = self.factors.index(factor)
        return next((c for c in self.bound if c[column] == value), None)

    def carrier_choices(self) -> tuple[dict[str, str], ...]:
        """Return every combination of carrier values."""
        return carrier_choices(self.carriers)

    def values(self, first: str, second: str, carriers: Mapping[str, str]) -> dict[str, str]:
        """Return the factor values of an instruction that names ``first`` and ``second``."""
        return {self.factors[0]: first, self.factors[1]: second, **carriers}


@dataclass(frozen=True)
class Vocabulary:
    """A grammar, what its object factors are in a scene, and its training sets.

    Attributes:
        grammar: The factors and the template.
        attributes: Object factor -> attribute of ``ObjectSpec`` (shape, color, size, region).
        bindings: The training sets.
    """

    grammar: Grammar
    attributes: Mapping[str, str]
    bindings: tuple[Binding, ...]

    @property
    def action(self) -> str:
        """Return the name of the factor that says what to do."""
        return next(f.name for f in self.grammar.factors if f.kind == "action")

    def binding(self, pair: str) -> Binding:
        """Return the training set of ``pair``, named in either order: ``object,color`` will do."""
        wanted = re.split(r"[,\s:-]+", pair.strip())
        for factor in wanted:
            self.grammar.factor(factor)
        for binding in self.bindings:
            if sorted(binding.factors) == sorted(wanted):
                return binding
        raise unknown("pair", pair, (b.name for b in self.bindings))

    def shown(self, spec: ObjectSpec) -> dict[str, str | None]:
        """Return object factor -> value that ``spec`` shows."""
        return {factor: getattr(spec, attribute) for factor, attribute in self.attributes.items()}

    def parse(self, text: str) -> Instruction:
        """Return the instruction that ``text`` words.

        Raises:
            UserError: The grammar cannot have made ``text``.
        """
        match = re.fullmatch(_pattern(self.grammar), text)
        if match is None:
            raise UserError(f"Grammar {self.grammar.name!r} cannot read the instruction {text!r}.")
        return self.grammar.instruction({k: v for k, v in match.groupdict().items() if v is not None})


def load_vocabulary(source: str | Path = "tabletop") -> Vocabulary:
    """Return the vocabulary shipped under the name ``source``, or read from that YAML file.

    Raises:
        UserError: No such file, or its content does not hold together (the line says where).
    """
    path = Path(source)
    if path.suffix not in (".yaml", ".yml"):
        shipped = {p.stem: p for p in _SHIPPED.glob("*.yaml")}
        if str(source) not in shipped:
            raise unknown("vocabulary", str(source), shipped)
        path = shipped[str(source)]
    return _read(path)


@dataclass(frozen=True)
class _FactorEntry:
    __pydantic_config__ = {"extra": "forbid"}
    name: str
    values: tuple[str, ...]
    kind: FactorKind = "object"
    attribute: str | None = None


@dataclass(frozen=True)
class _PairEntry:
    __pydantic_config__ = {"extra": "forbid"}
    factors: tuple[str, str]
    bound: tuple[tuple[str, str], ...]
    carriers: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class _File:
    __pydantic_config__ = {"extra": "forbid"}
    name: str
    template: str
    factors: tuple[_FactorEntry, ...]
    pairs: tuple[_PairEntry, ...] = ()


@cache
def _read(path: Path) -> Vocabulary:
    entry = from_json(_File, read_yaml(path, f"Cannot read vocabulary {path}"), where=str(path))
    grammar = Grammar(
        entry.name, entry.template, tuple(Factor(f.name, f.values, f.kind) for f in entry.factors)
    )
    actions = [f.name for f in entry.factors if f.kind == "action"]
    if len(actions) != 1:
        raise UserError(
            f"Vocabulary {entry.name!r} needs exactly one factor of kind action, found {actions}."
        )
    attributes = {f.name: f.attribute or f.name for f in entry.factors if f.kind == "object"}
    for attribute in attributes.values():
        if attribute not in ATTRIBUTES:
            raise unknown("attribute of an object", attribute, ATTRIBUTES)
    return Vocabulary(grammar, attributes, tuple(_binding(grammar, actions[0], pair) for pair in entry.pairs))


def _binding(grammar: Grammar, action: str, entry: _PairEntry) -> Binding:
    """Return the checked training set of ``entry``."""
    where = f"Pair {','.join(entry.factors)}"
    if entry.factors[1] == action or entry.factors[0] == entry.factors[1]:
        raise UserError(f"{where}: two different factors, the {action} first.")
    for column, name in enumerate(entry.factors):
        values = [grammar.factor(name).check(combination[column]) for combination in entry.bound]
        if len(set(values)) < len(values):
            raise UserError(f"{where}: a value of {name} is bound more than once.")
    for name, carried in entry.carriers.items():
        if name in entry.factors:
            raise UserError(f"{where}: {name} cannot be bound and carry.")
        for value in carried:
            grammar.factor(name).check(value)
    kind: PairKind = "verb_object" if entry.factors[0] == action else "object_object"
    if kind == "object_object" and action not in entry.carriers:
        raise UserError(f"{where}: the carriers must say what to do ({action}).")
    binding = Binding(entry.factors, entry.bound, entry.carriers, kind)
    for carriers in binding.carrier_choices():
        for combination in entry.bound:
            grammar.instruction(binding.values(*combination, carriers))  # raises when it cannot be worded
    return binding


@cache
def _pattern(grammar: Grammar) -> str:
    """Return the regular expression of everything that ``grammar`` can word."""
    pattern = re.escape(grammar.template).replace(r"\[", "(?:").replace(r"\]", ")?")
    for factor in grammar.factors:
        choices = "|".join(sorted(map(re.escape, factor.values), key=len, reverse=True))
        pattern = pattern.replace(r"\{" + factor.name + r"\}", f"(?P<{factor.name}>{choices})")
    return pattern
