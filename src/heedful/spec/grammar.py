"""Factors, the grammar that words them, and the instruction that comes out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from heedful.spec.errors import UserError, unknown

FactorKind = Literal["action", "object"]
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Factor:
    """One part of an instruction that can vary, such as the color.

    Attributes:
        name: The factor's name, a slot of the grammar's template.
        values: Its values, in the order in which strategies step through them.
        kind: ``action`` when it says what to do, ``object`` when it says to which object.
    """

    name: str
    values: tuple[str, ...]
    kind: FactorKind = "object"

    def __post_init__(self) -> None:
        repeated = {v for v in self.values if self.values.count(v) > 1}
        if repeated:
            raise UserError(f"Factor {self.name!r} lists {sorted(repeated)} more than once.")
        if not self.values:
            raise UserError(f"Factor {self.name!r} has no values.")

    def check(self, value: str) -> str:
        """Return ``value``, or raise the error that suggests the nearest valid one."""
        if value not in self.values:
            raise unknown(f"value of factor {self.name}", value, self.values)
        return value


@dataclass(frozen=True)
class Instruction:
    """The words a policy gets, and the factor values behind them.

    Attributes:
        text: The exact string. Empty in the empty-instruction control.
        values: Factor name -> value, for the factors that are named.
    """

    text: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Grammar:
    """Factors and a template that words any subset of them.

    Slots are written ``{color}``; a part in square brackets is dropped when its slot
    has no value: ``"{verb} the[ {size}][ {color}] {object}[ on the {spatial} of the table]"``.
    """

    name: str
    template: str
    factors: tuple[Factor, ...]

    def __post_init__(self) -> None:
        names = [f.name for f in self.factors]
        slots = _SLOT.findall(self.template)
        if sorted(names) != sorted(slots):
            raise UserError(
                f"Grammar {self.name!r}: the template's slots {sorted(slots)} and the "
                f"factors {sorted(names)} differ."
            )

    def factor(self, name: str) -> Factor:
        """Return the factor called ``name``."""
        for candidate in self.factors:
            if candidate.name == name:
                return candidate
        raise unknown("factor", name, (f.name for f in self.factors))

    def instruction(self, values: Mapping[str, str]) -> Instruction:
        """Return the instruction that names ``values`` (factor name -> value).

        Raises:
            UserError: An unknown factor or value, or a slot that must be filled is empty.
        """
        checked = {name: self.factor(name).check(value) for name, value in values.items()}

        def optional(match: re.Match[str]) -> str:
            part = match.group(1)
            return part if all(s in checked for s in _SLOT.findall(part)) else ""

        text = _OPTIONAL.sub(optional, self.template)
        for slot in _SLOT.findall(text):
            if slot not in checked:
                raise UserError(f"Grammar {self.name!r} cannot word {dict(values)}: {slot} is missing.")
            text = text.replace("{" + slot + "}", checked[slot])
        return Instruction(text=text, values=checked)
