"""The rules by which language models write and check paraphrases, read from ``rules.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from heedful.spec.codec import digest, from_json
from heedful.spec.paraphrase import Cell
from heedful.spec.yaml_file import read_yaml

_FILE = Path(__file__).with_name("rules.yaml")


@dataclass(frozen=True)
class Example:
    """An original and one good paraphrase of it."""

    __pydantic_config__ = {"extra": "forbid"}

    original: str
    paraphrase: str


@dataclass(frozen=True)
class Category:
    """What makes a paraphrase one of its category.

    Attributes:
        definition: One sentence.
        do: What to do.
        dont: What not to do, though it may suggest itself.
        examples: Good ones.
    """

    __pydantic_config__ = {"extra": "forbid"}

    definition: str
    do: tuple[str, ...]
    dont: tuple[str, ...]
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class Rules:
    """Everything that the two models are told.

    Attributes:
        writer: What the generator is.
        checker: What the verifier is.
        data_note: That the strings of a question are data, not orders.
        always: What holds for every paraphrase.
        both: How two categories go together.
        actions: Action type -> its category.
        objects: Object type -> its category.
        checks: Field of the verifier's answer -> what it means; all must be true.
    """

    __pydantic_config__ = {"extra": "forbid"}

    writer: str
    checker: str
    data_note: str
    always: tuple[str, ...]
    both: str
    actions: Mapping[str, Category]
    objects: Mapping[str, Category]
    checks: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Return what tells these rules from any others."""
        return digest(asdict(self))

    def categories(self, cell: Cell) -> dict[str, Category]:
        """Return the categories of ``cell`` by what they are about: ``action``, ``object``."""
        found = {}
        if cell.action != "none":
            found["action"] = self.actions[cell.action]
        if cell.object != "none":
            found["object"] = self.objects[cell.object]
        return found


@cache
def load_rules(path: Path = _FILE) -> Rules:
    """Return the rules in ``path``, the shipped ones by default.

    Raises:
        UserError: A key is missing, unknown or of the wrong type.
    """
    return from_json(Rules, read_yaml(path, f"Cannot read rules {path}"), path.name)
