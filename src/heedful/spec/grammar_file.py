"""Grammars by name or from a user's own YAML: factors and a template, without scenes or training sets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heedful.spec.codec import from_json
from heedful.spec.errors import UserError, unknown
from heedful.spec.grammar import Factor, FactorKind, Grammar
from heedful.spec.vocabulary import Binding, load_vocabulary
from heedful.spec.yaml_file import read_yaml

_HERE = Path(__file__).parent
_YAML = (".yaml", ".yml")


@dataclass(frozen=True)
class LoadedGrammar:
    """A grammar and what else its file says.

    Attributes:
        source: The name or path under which it is loaded again.
        grammar: The factors and the template.
        order: Its factors from the best to the worst grounded, where the file says so.
        bindings: The training sets of a vocabulary; none for a plain grammar.
    """

    source: str
    grammar: Grammar
    order: tuple[str, ...] = ()
    bindings: tuple[Binding, ...] = ()


def shipped_grammars() -> tuple[str, ...]:
    """Return the names of the grammars that come with heedful, vocabularies included."""
    return tuple(sorted(path.stem for path in (*_shipped("vocabularies"), *_shipped("grammars"))))


def load_grammar(source: str | Path = "tabletop") -> LoadedGrammar:
    """Return the grammar that ``source`` names.

    Args:
        source: A shipped vocabulary (``tabletop``), a shipped grammar (``bun``), or the path of a
            YAML file with ``name``, ``template``, ``factors`` and, optionally, ``order``; a
            vocabulary's file will do, too. ``bun.yaml`` where there is no such file is ``bun``.

    Raises:
        UserError: Nothing of that name, or its content does not hold together.
    """
    path = Path(source)
    if path.suffix in _YAML and path.is_file():
        return _read(path, str(source))
    stem = path.stem if path.suffix in _YAML and len(path.parts) == 1 else str(source)
    for shipped in (*_shipped("vocabularies"), *_shipped("grammars")):
        if shipped.stem == stem:
            return _read(shipped, stem)
    if path.suffix in _YAML:
        raise UserError(
            f"There is no grammar file {path}. Name another YAML file, or one that comes with heedful: "
            f"{', '.join(shipped_grammars())}."
        )
    raise unknown("grammar", str(source), shipped_grammars())


@dataclass(frozen=True)
class _FactorEntry:
    __pydantic_config__ = {"extra": "forbid"}
    name: str
    values: tuple[str, ...]
    kind: FactorKind = "object"


@dataclass(frozen=True)
class _File:
    __pydantic_config__ = {"extra": "forbid"}
    name: str
    template: str
    factors: tuple[_FactorEntry, ...]
    order: tuple[str, ...] = ()


def _shipped(folder: str) -> list[Path]:
    return sorted((_HERE / folder).glob("*.yaml"))


def _read(path: Path, source: str) -> LoadedGrammar:
    data = read_yaml(path, f"Grammar {path} cannot be read")
    if isinstance(data, dict) and "pairs" in data:  # a vocabulary
        vocabulary = load_vocabulary(path)
        return LoadedGrammar(source, vocabulary.grammar, (), vocabulary.bindings)
    return _checked(path, source, from_json(_File, data, where=str(path)))


def _checked(path: Path, source: str, entry: _File) -> LoadedGrammar:
    """Return the grammar of ``entry``; whatever is wrong names the file."""
    for factor in entry.factors:
        for value in (factor.name, *factor.values):
            if value != " ".join(value.split()) or not value:
                raise UserError(
                    f"{path}: factor {factor.name!r}: {value!r} is empty or has blanks that no one sees."
                )
    try:
        grammar = Grammar(
            entry.name, entry.template, tuple(Factor(f.name, f.values, f.kind) for f in entry.factors)
        )
        for name in entry.order:
            grammar.factor(name)
        if len(set(entry.order)) < len(entry.order):
            raise UserError("order names a factor more than once.")
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    return LoadedGrammar(source, grammar, entry.order)
