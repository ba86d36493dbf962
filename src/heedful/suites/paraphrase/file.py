"""The file of paraphrases that a user names, ``paraphrases.csv``: one row a paraphrase."""

from __future__ import annotations

import csv
from pathlib import Path

from heedful.spec.errors import UserError
from heedful.spec.paraphrase import COLUMNS, Paraphrase, typed_cell

_NEEDED = COLUMNS[:-1]


def read_paraphrases(path: Path) -> tuple[Paraphrase, ...]:
    """Return the paraphrases in a file; other columns are left aside.

    Raises:
        UserError: The file cannot be read, lacks a column, or a row has no words, no such cell,
            or the key of an earlier row; the message names the line.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.DictReader(lines)
            head = rows.fieldnames or ()
            missing = [column for column in _NEEDED if column not in head]
            if missing:
                raise UserError(f"{path} has no column {missing[0]}; it needs {', '.join(_NEEDED)}.")
            found = [(rows.line_num, {k: (v or "").strip() for k, v in row.items() if k}) for row in rows]
    except OSError as error:
        raise UserError(f"Cannot read paraphrases {path}: {error.strerror}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"Cannot read paraphrases {path}: {error}.") from error
    earlier: dict[str, int] = {}
    paraphrases = []
    for line, row in found:
        for column in ("key", "original", "paraphrase"):
            if not row[column]:
                raise UserError(f"{path}, line {line}: {column} is empty.")
        first = earlier.setdefault(row["key"], line)
        if first != line:
            raise UserError(f"{path}, line {line}: the key {row['key']!r} stands in line {first} already.")
        try:
            cell = typed_cell(row["object_type"], row["action_type"])
        except UserError as error:
            raise UserError(f"{path}, line {line}: {error}") from error
        paraphrases.append(
            Paraphrase(row["original"], row["paraphrase"], cell, row["key"], row.get("source", ""))
        )
    return tuple(paraphrases)
