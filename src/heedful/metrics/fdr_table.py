"""Tables of Factor Dominance Rates: reading one from CSV, and checking it."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal

from heedful.spec.errors import UserError, unknown

Unit = Literal["auto", "percent", "fraction"]

KNOWN_FACTORS = ("color", "object", "spatial", "verb", "size")
"""The published order; factors of a table are listed in it, others after by first appearance."""
PAIR_COLUMNS = ("factor_1", "factor_2")
_MISSING = {"", "-", "na", "n/a", "nan", "none", "null"}


@dataclass(frozen=True)
class FdrTable:
    """FDR of every pair of factors, for any number of policies.

    Attributes:
        pairs: P pairs (factor 1, factor 2), each pair of factors at most once.
        values: Policy name -> FDR of each pair as a fraction in [-1, 1]; positive: factor 1
            dominates; ``None`` where it is missing or undefined.
    """

    pairs: tuple[tuple[str, str], ...]
    values: Mapping[str, tuple[float | None, ...]]

    @property
    def factors(self) -> tuple[str, ...]:
        """Return the factors: the published five in their order, then others by first appearance."""
        seen = tuple(dict.fromkeys(factor for pair in self.pairs for factor in pair))
        return tuple(f for f in KNOWN_FACTORS if f in seen) + tuple(f for f in seen if f not in KNOWN_FACTORS)

    def of(self, policy: str) -> tuple[float | None, ...]:
        """Return the FDR of each pair for one policy."""
        if policy not in self.values:
            raise unknown("policy", policy, self.values)
        return self.values[policy]


@dataclass(frozen=True)
class _Line:
    at: str
    pair: tuple[str, str]
    values: tuple[float | None, ...]
    percent_signs: tuple[bool, ...]


def read_fdr_table(path: Path, unit: Unit = "auto") -> FdrTable:
    """Return the FDR table in a CSV file.

    The header names ``factor_1``, ``factor_2`` and then one column a policy; lines that
    start with ``#`` are comments. An empty cell or ``nan`` is a missing value. A pair may
    stand in either order; in both only where the two rows say the same.

    Args:
        path: The file, UTF-8.
        unit: Whether values are percent or fractions. ``auto`` takes a table for percent
            when any value carries a ``%`` or lies outside [-1, 1]. A table in percent whose
            every value is within one percent would pass for fractions: say ``percent`` then.

    Raises:
        UserError: The table cannot be read or makes no sense; the line is named.
    """
    return parse_fdr_table(_text(path), str(path), unit)


def parse_fdr_table(text: str, where: str = "table", unit: Unit = "auto") -> FdrTable:
    r"""Return the FDR table that CSV ``text`` holds; ``where`` names it in errors.

    >>> parse_fdr_table("factor_1,factor_2,mine\nverb,color,-4.0\n").values
    {'mine': (-0.04,)}
    """
    numbered = [
        (number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not numbered:
        raise UserError(f"{where}: the table is empty; expected the columns factor_1, factor_2, policies.")
    header = _cells(numbered[0][1])
    first, second, policies = _columns(header, where)
    lines = [
        _line(f"{where}, line {number}", _cells(line), header, (first, second), policies)
        for number, line in numbered[1:]
    ]
    if not lines:
        raise UserError(f"{where}: the table has a header but no rows.")
    scale = _scale(lines, unit, where)
    merged: dict[tuple[str, str], tuple[float | None, ...]] = {}
    seen: set[tuple[str, str]] = set()
    for line in lines:
        if line.pair in seen:
            raise UserError(f"{line.at}: the pair {','.join(line.pair)} appears a second time.")
        seen.add(line.pair)
        scaled = tuple(_scaled(value, scale, line.at) for value in line.values)
        _merge(merged, line, scaled)
    columns = zip(*merged.values(), strict=True)
    return FdrTable(tuple(merged), dict(zip((header[i] for i in policies), columns, strict=True)))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not a UTF-8 text file.") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line]))]


def _columns(header: Sequence[str], where: str) -> tuple[int, int, list[int]]:
    for name in PAIR_COLUMNS:
        if name not in header:
            raise UserError(f"{where}: column {name!r} is missing; found: {', '.join(header)}.")
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise UserError(f"{where}: column {repeated[0]!r} appears more than once.")
    if "" in header:
        raise UserError(f"{where}: column {header.index('') + 1} has no name.")
    first, second = (header.index(name) for name in PAIR_COLUMNS)
    policies = [i for i in range(len(header)) if i not in (first, second)]
    if not policies:
        raise UserError(f"{where}: no policy column stands beside factor_1 and factor_2.")
    return first, second, policies


def _line(
    at: str, cells: Sequence[str], header: Sequence[str], pair_at: tuple[int, int], policies: Sequence[int]
) -> _Line:
    if len(cells) != len(header):
        raise UserError(f"{at}: {len(cells)} cells, but the header has {len(header)} columns.")
    pair = (cells[pair_at[0]], cells[pair_at[1]])
    if not all(pair):
        raise UserError(f"{at}: a factor's name is empty.")
    if pair[0] == pair[1]:
        raise UserError(f"{at}: {pair[0]!r} is paired with itself.")
    values = tuple(_number(cells[i], f"{at}, column {header[i]!r}") for i in policies)
    return _Line(at, pair, values, tuple(cells[i].endswith("%") for i in policies))


def _number(cell: str, at: str) -> float | None:
    if cell.lower() in _MISSING:
        return None
    try:
        value = float(cell.removesuffix("%").replace("\N{MINUS SIGN}", "-").replace("_", "?"))
    except ValueError as error:
        raise UserError(f"{at}: {cell!r} is not a number.") from error
    if not math.isfinite(value):
        raise UserError(f"{at}: {cell!r} is not a finite number.")
    return value


def _scale(lines: Sequence[_Line], unit: Unit, where: str) -> int:
    """Return what values are divided by: 100 for percent, 1 for fractions."""
    cells = [cell for line in lines for cell in zip(line.values, line.percent_signs, strict=True)]
    numbers = [(value, signed) for value, signed in cells if value is not None]
    signs = {signed for _, signed in numbers}
    if len(signs) == 2:
        raise UserError(f"{where}: some values carry a % and some do not; write all of them one way.")
    if unit == "fraction" and True in signs:
        raise UserError(f"{where}: the values carry a %, but the unit is given as fraction.")
    if unit == "auto":
        return 100 if True in signs or any(abs(value) > 1 for value, _ in numbers) else 1
    return 100 if unit == "percent" else 1


def _scaled(value: float | None, scale: int, at: str) -> float | None:
    if value is None:
        return None
    if abs(value) > scale:
        shown = "percent, -100 to 100" if scale == 100 else "fractions, -1 to 1"
        raise UserError(f"{at}: {value:g} is out of range; the table is read as {shown}.")
    return float(Decimal(repr(value)) / scale)  # 7.4 % is 0.074, to the last bit


def _merge(
    merged: dict[tuple[str, str], tuple[float | None, ...]], line: _Line, values: tuple[float | None, ...]
) -> None:
    """Add one row, or fill the gaps of the row that gives the same pair the other way round."""
    first, second = line.pair
    other = merged.get((second, first))
    if other is None:
        merged[line.pair] = values
        return
    filled = []
    for there, here in zip(other, values, strict=True):
        if there is not None and here is not None and abs(there + here) > 1e-9:
            raise UserError(
                f"{line.at}: {first},{second} is {here:g}, but {second},{first} is {there:g}; "
                "the two must be each other's negative."
            )
        filled.append(there if there is not None or here is None else -here)
    merged[second, first] = tuple(filled)
