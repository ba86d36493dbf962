"""The rows and columns of a plan's CSV, checked: what a person may have edited by hand."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heedful.spec.errors import UserError, unknown
from heedful.spec.grammar import Grammar
from heedful.spec.plan import PlanRow

CARRIER = "carrier_"
INSTRUCTION = "instruction"
COMPUTED = ("demonstration", "change", "changes")
"""Columns that are written for the reader and computed anew when the plan is read."""


@dataclass(frozen=True)
class PlanColumns:
    """The columns of a plan's file.

    Attributes:
        columns: All of them, in order.
        factors: Those that are factors of the grid.
        carriers: The factors that are carried.
    """

    columns: tuple[str, ...]
    factors: tuple[str, ...]
    carriers: tuple[str, ...]

    @classmethod
    def of(
        cls, path: Path, columns: Sequence[str], grammar: Grammar, expected: Sequence[str] = ()
    ) -> PlanColumns:
        """Return the checked columns.

        Args:
            path: The file, for the error line.
            columns: Its first row.
            grammar: Knows the factors.
            expected: Factors that must be there; none: whichever are.

        Raises:
            UserError: A column is missing, unknown or there twice.
        """
        known = [factor.name for factor in grammar.factors]
        repeated = sorted({c for c in columns if list(columns).count(c) > 1})
        if repeated:
            raise UserError(f"{path}, row 1: column {repeated[0]!r} is there more than once.")
        factors = [c for c in columns if c in known]
        wanted = [*(expected or factors), INSTRUCTION]
        for column in wanted:
            if column not in columns:
                raise UserError(f"{path}, row 1: column {column!r} is missing.")
        carriers = [c.removeprefix(CARRIER) for c in columns if c.startswith(CARRIER)]
        valid = [*known, *(CARRIER + name for name in known), INSTRUCTION, *COMPUTED]
        for column in columns:
            if column not in valid:
                raise unknown(f"column of a plan in {path}, row 1:", column, valid)
        if not factors:
            raise UserError(f"{path}, row 1: no column is a factor; factors are {', '.join(known)}.")
        both = [name for name in carriers if name in factors]
        if both:
            raise UserError(f"{path}, row 1: {both[0]} is varied and carried; keep one of the two columns.")
        if sorted(expected) == sorted(factors):  # columns may have changed places
            factors = list(expected)
        return cls(tuple(columns), tuple(factors), tuple(carriers))

    def row(self, fields: Sequence[str], grammar: Grammar) -> PlanRow:
        """Return the row of ``fields``, its ``repeat`` left at 0.

        Raises:
            UserError: A value is unknown, or the instruction says something else than the values.
        """
        if len(fields) != len(self.columns):
            raise UserError(f"it has {len(fields)} fields, the heading {len(self.columns)}.")
        found = dict(zip(self.columns, fields, strict=True))
        configuration = tuple(grammar.factor(name).check(found[name]) for name in self.factors)
        carriers = {name: grammar.factor(name).check(found[CARRIER + name]) for name in self.carriers}
        instruction = grammar.instruction({**dict(zip(self.factors, configuration, strict=True)), **carriers})
        if found[INSTRUCTION] != instruction.text:
            raise UserError(
                f"the instruction is {found['instruction']!r}, but these values are worded "
                f"{instruction.text!r}; change one of the two."
            )
        return PlanRow(configuration, carriers, instruction, 0)


def plan_table(path: Path) -> list[tuple[int, list[str]]]:
    """Return (row number from 1, fields) of every row that is not blank, as a spreadsheet saves them.

    Raises:
        UserError: There is no such file, it cannot be read, or it is empty.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise UserError(f"There is no plan at {path}; `heedful plan` makes one.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}.") from error
    first = text.partition("\n")[0]
    delimiter = ";" if first.count(";") > first.count(",") else ","
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise UserError(f"{path} is no CSV file: {error}.") from error
    found = [(i, [f.strip() for f in row]) for i, row in enumerate(rows, start=1) if any(map(str.strip, row))]
    if not found:
        raise UserError(f"{path} is empty; `heedful plan` makes a new one.")
    return found
