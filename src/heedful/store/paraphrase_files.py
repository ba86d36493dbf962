"""CSV files of paraphrases: pairs of texts, what was measured of them, and outcomes of episodes."""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from heedful.spec.errors import UserError
from heedful.spec.paraphrase import COLUMNS, Paraphrase
from heedful.store.disk import check_file, write_atomically

PAIR_COLUMNS = (("original", "paraphrase"), ("original_instruction", "new_instruction"))
"""Names that the two texts may have: ours, and those of LIBERO-Para's metadata."""
OUTCOMES = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False, "": None}
"""What a file may say of an episode, in small letters -> whether it succeeded; ``None``: not told."""


@dataclass(frozen=True)
class Table:
    """A CSV file as it is.

    Attributes:
        path: The file.
        columns: Names in the header, C of them.
        rows: Cells, [N][C]; blank lines are left out.
        lines: Line of the file on which each row ends, from 1, [N].
    """

    path: Path
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def column(self, name: str) -> tuple[str, ...]:
        """Return the cells of a column, [N].

        Raises:
            UserError: No such column, or several; names the columns there are.
        """
        if name not in self.columns:
            raise _missing(self, name, self.columns)
        if self.columns.count(name) > 1:
            raise UserError(f"{self.path} has {self.columns.count(name)} columns called {name!r}; keep one.")
        at = self.columns.index(name)
        return tuple(row[at] for row in self.rows)


def read_table(path: Path) -> Table:
    """Return the table in a CSV file: UTF-8, commas, double quotes, the names in the first line.

    Raises:
        UserError: It is missing, empty, no UTF-8, badly quoted, or a row has too few or too
            many cells; the line is named.
    """
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    read: list[tuple[int, tuple[str, ...]]] = []
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells) or len(cells) > 1:
                read.append((reader.line_num, tuple(cells)))
    except csv.Error as error:
        raise UserError(
            f"{path}, line {reader.line_num} is no CSV ({error}); a text that holds a quote or a comma "
            'stands in double quotes, and a double quote inside it is written twice: "put the ""big"" bowl".'
        ) from error
    if not read:
        raise UserError(f"{path} is empty; expected a CSV file whose first line names its columns.")
    columns = tuple(name.strip() for name in read[0][1])
    for line, row in read[1:]:
        if len(row) != len(columns):
            raise UserError(
                f"{path}, line {line} has {len(row)} cells, but the header has {len(columns)}; "
                "a text that holds a comma stands in double quotes."
            )
    return Table(path, columns, tuple(row for _, row in read[1:]), tuple(line for line, _ in read[1:]))


def pair_columns(table: Table) -> tuple[str, str]:
    """Return the names of the columns that hold the original and its paraphrase.

    Raises:
        UserError: They are missing; names the columns there are, and what would do.
    """
    for names in PAIR_COLUMNS:
        if all(name in table.columns for name in names):
            return names
    original, paraphrase = PAIR_COLUMNS[0]
    raise _missing(table, paraphrase if original in table.columns else original, PAIR_COLUMNS[0])


def pairs_of(table: Table) -> list[tuple[str, str]]:
    """Return (original, paraphrase) of each row."""
    original, paraphrase = (table.column(name) for name in pair_columns(table))
    return list(zip(original, paraphrase, strict=True))


def outcomes_of(table: Table, column: str = "success") -> list[bool | None]:
    """Return whether each row's episode succeeded; ``None`` where the cell is empty.

    Raises:
        UserError: A cell is neither 0, 1, true, false nor empty; the line is named.
    """
    found: list[bool | None] = []
    for line, cell in zip(table.lines, table.column(column), strict=True):
        word = cell.strip().lower()
        if word not in OUTCOMES:
            raise UserError(
                f"{table.path}, line {line}: {column} is {cell!r}; it must be 1, 0, true, false or empty."
            )
        found.append(OUTCOMES[word])
    return found


def with_columns(table: Table, new: Sequence[tuple[str, Iterable[str]]]) -> Table:
    """Return the table with more columns; one that is there already is replaced where it stands.

    Args:
        table: The table.
        new: (name, its cell for each row), in the order in which they are added.
    """
    columns, rows = list(table.columns), [list(row) for row in table.rows]
    for name, cells in new:
        if name not in columns:
            columns.append(name)
            for row in rows:
                row.append("")
        at = columns.index(name)
        for row, cell in zip(rows, cells, strict=True):
            row[at] = cell
    return Table(table.path, tuple(columns), tuple(tuple(row) for row in rows), table.lines)


def write_table(table: Table, path: Path) -> None:
    """Write the table as UTF-8 CSV to ``path``, replacing what is there.

    Raises:
        UserError: ``path`` is a folder, or cannot be written.
    """
    if path.is_dir():
        raise UserError(f"{path} is a folder; name the CSV file to write.")
    text = io.StringIO(newline="")
    plain = csv.writer(text, lineterminator="\n")
    quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in (table.columns, *table.rows):
        # A lone carriage return is not quoted by itself, but read as the end of a line.
        (quoted if any("\r" in cell for cell in row) else plain).writerow(row)
    write_atomically(path, text.getvalue().encode())


def check_table(path: Path, columns: Sequence[str], kind: str, force: bool = False) -> None:
    """Refuse now, before the work, a place that a table with these ``columns`` must not go to.

    Args:
        path: Where the table will be written.
        columns: Its header: a file with this very header is an earlier table, and replaced.
        kind: What it is, for the line that refuses: ``score table``.
        force: Replace any other file, too.

    Raises:
        UserError: ``path`` cannot be written, or another file is there.
    """
    check_file(path)
    if not force and path.exists() and _header(path) not in (tuple(columns), ()):
        raise UserError(f"{path} is there and is no {kind}; name another file, or say --force.")


def _header(path: Path) -> tuple[str, ...] | None:
    """Return the names in the first line of a CSV file; none of an empty one, ``None`` if it is no CSV."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return tuple(name.strip() for name in next(csv.reader(file, strict=True), ()))
    except (OSError, UnicodeDecodeError, csv.Error):
        return None


def write_paraphrases(paraphrases: Iterable[Paraphrase], path: Path) -> None:
    """Write paraphrases to ``path``, one a row; a file that is there is replaced as a whole.

    Raises:
        UserError: ``path`` is a folder, or cannot be written.
    """
    rows = tuple((p.key, p.original, p.text, p.cell.object, p.cell.action, p.source) for p in paraphrases)
    write_table(Table(path, COLUMNS, rows, ()), path)


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist.") from error
    except IsADirectoryError as error:
        raise UserError(f"{path} is a folder; name a CSV file.") from error
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror or error}.") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        looks = "it looks like UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else f"see line {line}"
        raise UserError(f"{path} is not a UTF-8 text file ({looks}); save it as CSV UTF-8.") from error


def _missing(table: Table, name: str, would_do: Sequence[str]) -> UserError:
    found = ", ".join(repr(column) for column in table.columns)
    close = difflib.get_close_matches(name, [c for c in table.columns if c != name], n=1, cutoff=0.7)
    hint = ""
    if len(table.columns) == 1 and any(mark in table.columns[0] for mark in ";\t|"):
        hint = " Separate the cells with commas."
    elif close:
        hint = f" Is {close[0]!r} meant? Then rename it."
    names = " or ".join(" and ".join(pair) for pair in PAIR_COLUMNS)
    expected = f" The first line must name the columns {names}." if would_do in PAIR_COLUMNS else ""
    return UserError(f"{table.path} has no column {name!r}; its columns are {found}.{hint}{expected}")
