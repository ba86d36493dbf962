"""What a benchmark's own file says of its paraphrases, by key."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from heedful.spec.errors import UserError
from heedful.spec.paraphrase import Cell, parse_key, released_cell, typed_cell
from heedful.store.paraphrase_files import Table, pairs_of, read_table

KEY_COLUMNS = ("key", "bddl_file")
"""Names that the column with the key may have: ours, and that of LIBERO-Para's logs."""
KEY_PARTS = ("high", "mid", "low", "eval", "batch_idx")
"""LIBERO-Para's metadata spreads the key over these columns."""
SIMILARITIES = ("keyword_similarity", "structural_similarity")


@dataclass(frozen=True)
class Entry:
    """One paraphrase of a benchmark.

    Attributes:
        original: The original's exact words.
        text: The paraphrase's exact words.
        cell: In which way it differs, ``None`` where the file does not say.
        keyword_similarity, structural_similarity: As the file has them, ``None`` where it has not.
    """

    original: str
    text: str
    cell: Cell | None
    keyword_similarity: float | None = None
    structural_similarity: float | None = None


@dataclass(frozen=True)
class Metadata:
    """The paraphrases of a benchmark.

    Attributes:
        path: The file.
        entries: Key, without ``.bddl`` -> paraphrase.
    """

    path: Path
    entries: Mapping[str, Entry]

    @property
    def counts(self) -> dict[str, int]:
        """Return how many paraphrases each cell has."""
        return dict(Counter(entry.cell.name for entry in self.entries.values() if entry.cell))


def read_metadata(path: Path) -> Metadata:
    """Return the paraphrases that a CSV file lists: LIBERO-Para's metadata, or a file of ours.

    Raises:
        UserError: It cannot be read, has neither a key nor the columns that make one, or lists
            a key twice with different words.
    """
    table = read_table(path)
    keys = keys_of(table)
    if keys is None:
        raise UserError(
            f"{path} has no column 'key', nor the columns {', '.join(KEY_PARTS)} that make one; results are "
            "joined on the key, never on the words, because several paraphrases can have the same words."
        )
    cells, (s_k, s_t) = cells_of(table, keys), (numbers_of(table, name) for name in SIMILARITIES)
    entries: dict[str, Entry] = {}
    for key, (original, text), cell, keyword, structural, line in zip(
        keys, pairs_of(table), cells, s_k, s_t, table.lines, strict=True
    ):
        entry = Entry(original, text, cell, keyword, structural)
        if key in entries and entries[key] != entry:
            raise UserError(f"{path}, line {line}: the key {key!r} stands there a second time, and differs.")
        entries[key] = entry
    return Metadata(path, entries)


def keys_of(table: Table) -> list[str] | None:
    """Return the key of each row without ``.bddl``; ``None`` where no columns hold or make one."""
    for name in KEY_COLUMNS:
        if name in table.columns:
            return [cell.strip().removesuffix(".bddl") for cell in table.column(name)]
    if all(name in table.columns for name in KEY_PARTS):
        columns = [table.column(name) for name in KEY_PARTS]
        return [
            f"{high}_{mid}_{low}_eval{task}_ver{version}"
            for high, mid, low, task, version in zip(*columns, strict=True)
        ]
    return None


def cells_of(table: Table, keys: list[str] | None) -> list[Cell | None]:
    """Return the cell of each row, from its own columns or else from its key.

    Raises:
        UserError: A cell's name is not known; file and line are named.
    """
    named = next(
        (
            (columns, make)
            for columns, make in (
                (("object_type", "action_type"), typed_cell),
                (KEY_PARTS[:3], released_cell),
            )
            if all(name in table.columns for name in columns)
        ),
        None,
    )
    rows = list(zip(*(table.column(name) for name in named[0]), strict=True)) if named else []
    found: list[Cell | None] = []
    for i, line in enumerate(table.lines):
        words = tuple(word.strip() for word in rows[i]) if rows else ()
        try:
            if named is not None and any(words):
                found.append(named[1](*words))
            else:
                found.append(cell_of_key(keys[i]) if keys else None)
        except UserError as error:
            raise UserError(f"{table.path}, line {line}: {error}") from error
    return found


def cell_of_key(key: str) -> Cell | None:
    """Return the cell that a key of LIBERO-Para's form says; ``None`` for keys of another form."""
    try:
        return parse_key(key).cell
    except UserError:
        return None


def numbers_of(table: Table, name: str) -> list[float | None]:
    """Return a column of numbers; ``None`` where the column or the cell is missing.

    Raises:
        UserError: A cell is no finite number; file and line are named.
    """
    if name not in table.columns:
        return [None] * len(table.rows)
    found: list[float | None] = []
    for line, cell in zip(table.lines, table.column(name), strict=True):
        try:
            number = float(cell) if cell.strip() else None
        except ValueError:
            number = math.nan
        if number is not None and not math.isfinite(number):
            raise UserError(f"{table.path}, line {line}: {name} is {cell!r}; it must be a number or empty.")
        found.append(number)
    return found
