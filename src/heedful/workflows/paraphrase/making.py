"""Paraphrases of a user's own instructions, made offline by rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heedful.spec.errors import UserError
from heedful.spec.paraphrase import CELLS, COLUMNS, ORIGINAL, Cell
from heedful.spec.paraphrase import cell as cell_named
from heedful.spec.vocabulary import load_vocabulary
from heedful.store.paraphrase_files import check_table, write_paraphrases
from heedful.suites.paraphrase.generate import generate

MAX_PER_CELL = 1000
"""Paraphrases a cell; more is a slip of the keyboard: the lexicon gives a few hundred at most."""


@dataclass(frozen=True)
class Made:
    """What was made.

    Attributes:
        file: Where it was written.
        originals: Different instructions in the file.
        repeated: Lines that said an earlier instruction again; they are left out.
        paraphrases: How many were made.
        asked: How many were asked for, of the instructions that could be read.
        by_cell: Cell name -> how many were made.
        missing: Cell name -> original -> how many could not be made.
        refused: Original -> why nothing was made of it.
    """

    file: Path
    originals: int
    repeated: int
    paraphrases: int
    asked: int
    by_cell: Mapping[str, int]
    missing: Mapping[str, Mapping[str, int]]
    refused: Mapping[str, str]


def make_paraphrases(
    instructions: Path,
    out: Path,
    cells: Sequence[str] = ("all",),
    per_cell: int = 4,
    seed: int = 0,
    vocabulary: str = "tabletop",
    force: bool = False,
) -> Made:
    """Make paraphrases by rules and write them to ``out``; nothing leaves the machine.

    Args:
        instructions: Text file, one instruction a line; empty lines and lines with ``#`` first
            are left aside.
        out: The CSV to write; an earlier one is replaced.
        cells: Cell names, ``object/action``, or ``all``.
        per_cell: How many a cell and instruction.
        seed: Seed of every choice.
        vocabulary: Its instructions are read exactly; others as any request.
        force: Replace another file at ``out``, too; never the instructions.

    Raises:
        UserError: The file cannot be read or holds no instruction, an unknown cell, not one
            paraphrase could be made, or another file is at ``out``.
    """
    if not 1 <= per_cell <= MAX_PER_CELL:
        raise UserError(f"--per-cell is {per_cell}; it must be from 1 to {MAX_PER_CELL}.")
    chosen = cells_named(cells)
    lines = read_instructions(instructions, out)
    check_table(out, COLUMNS, "file of paraphrases", force)
    originals = list(dict.fromkeys(lines))
    batch = generate(originals, load_vocabulary(vocabulary), chosen, per_cell, seed)
    if not batch.paraphrases:
        reason = next(iter(batch.refused.values()), f"the lexicon has no words for {chosen[0].name}.")
        raise UserError(f"No paraphrase could be made: {reason}")
    write_paraphrases(batch.paraphrases, out)
    by_cell = {cell.name: 0 for cell in chosen}
    for paraphrase in batch.paraphrases:
        by_cell[paraphrase.cell.name] += 1
    missing: dict[str, dict[str, int]] = {}
    for (original, name), count in batch.missing.items():
        missing.setdefault(name, {})[original] = count
    return Made(
        file=out,
        originals=len(originals),
        repeated=len(lines) - len(originals),
        paraphrases=len(batch.paraphrases),
        asked=(len(originals) - len(batch.refused)) * len(chosen) * per_cell,
        by_cell=by_cell,
        missing=missing,
        refused=batch.refused,
    )


def read_instructions(path: Path, out: Path) -> list[str]:
    """Return the instructions in a text file, one a line.

    Args:
        path: The text file.
        out: The CSV that will be written, with a JSON beside it where a model makes it; neither
            may be ``path``.

    Raises:
        UserError: The file cannot be read, holds none, or would be overwritten.
    """
    if not out.name:
        raise UserError(f"The paraphrases need a file to go to, such as paraphrases.csv, not {str(out)!r}.")
    if path.resolve() in (out.resolve(), out.with_suffix(".json").resolve()):
        raise UserError(f"{path} holds the instructions; name another file to write paraphrases to.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"Cannot read instructions {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"Cannot read instructions {path}: it is no text in UTF-8.") from error
    found = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not found:
        raise UserError(f"{path} holds no instructions; write one a line, such as: put the bowl on the stove")
    return found


def cells_named(names: Sequence[str]) -> tuple[Cell, ...]:
    """Return the cells called ``names``, in the taxonomy's order; ``all`` are the 43.

    Raises:
        UserError: An unknown name, the original's, or none.
    """
    parts = [part.strip() for name in names for part in name.split(",") if part.strip()]
    if not parts:
        raise UserError("No cells are named; name one as object/action, or all.")
    if "all" in parts:
        return CELLS
    found = {cell_named(part) for part in parts}
    if ORIGINAL in found:
        raise UserError(f"{ORIGINAL.name} is the original wording, not a cell to fill.")
    return tuple(cell for cell in CELLS if cell in found)
