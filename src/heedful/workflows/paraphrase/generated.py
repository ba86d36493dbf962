"""What came of letting language models write paraphrases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heedful.spec.paraphrase import CELLS, Cell, Paraphrase, ParaphraseKey
from heedful.suites.paraphrase.generation.counts import Counts, summed
from heedful.suites.paraphrase.generation.screen import wording
from heedful.suites.paraphrase.generation.stages import Filled
from heedful.workflows.paraphrase.costs import Usage


@dataclass(frozen=True)
class CellResult:
    """What came of one cell, over all instructions.

    Attributes:
        wanted: Paraphrases asked for; 0 where the cell was only needed as an ingredient.
        written: Paraphrases in the file.
        elsewhere: Verified ones left out because an earlier cell or instruction has them already.
        counts: How questions and candidates ended.
    """

    wanted: int
    written: int
    elsewhere: int
    counts: Counts


@dataclass(frozen=True)
class Generated:
    """The whole result.

    Attributes:
        file: The CSV.
        sidecar: JSON beside it, with all of this.
        answers: Folder of every question and its answer.
        generator: Name of the model that wrote.
        verifier: Name of the model that checked.
        independent: The two are different models.
        rules: Digest of what they were told.
        originals: Different instructions.
        repeated: Instructions left out because they say an earlier one again.
        paraphrases: Rows written.
        wanted: Rows asked for.
        cells: Cell name -> its result, ingredients included.
        rejections: Check of the verifier -> candidates that failed it.
        missing: Cell name -> original -> how many fewer than asked for.
        usage: generator, verifier -> calls and tokens.
        money: generator, verifier -> what they cost; ``None`` where no price was given.
    """

    file: Path
    sidecar: Path
    answers: Path
    generator: str
    verifier: str
    independent: bool
    rules: str
    originals: int
    repeated: int
    paraphrases: int
    wanted: int
    cells: Mapping[str, CellResult]
    rejections: Mapping[str, int]
    missing: Mapping[str, Mapping[str, int]]
    usage: Mapping[str, Usage]
    money: Mapping[str, float | None]

    @property
    def counts(self) -> Counts:
        """Return the ends of all questions and candidates together."""
        return summed(result.counts for result in self.cells.values())


def selected(
    filled: Sequence[Filled], originals: Sequence[str], cells: Sequence[Cell], per_cell: int, source: str
) -> tuple[tuple[Paraphrase, ...], dict[str, CellResult]]:
    """Return the rows of the file, and what came of every cell.

    A wording stays with the first cell and instruction that has it, in the order of the file;
    of the rest the first ``per_cell`` are taken.

    Args:
        filled: Every job's result.
        originals: The instructions, in order; their places number them.
        cells: The cells wanted.
        per_cell: Rows of a cell and instruction at most.
        source: Who wrote them.
    """
    by_job = {(one.job.original, one.job.cell): one for one in filled}
    taken = {wording(original) for original in originals}
    rows: list[Paraphrase] = []
    written: dict[Cell, int] = {}
    elsewhere: dict[Cell, int] = {}
    for task, original in enumerate(originals):
        for cell in cells:
            new = [text for text in by_job[original, cell].texts if wording(text) not in taken]
            elsewhere[cell] = elsewhere.get(cell, 0) + len(by_job[original, cell].texts) - len(new)
            chosen = new[:per_cell]
            taken.update(map(wording, chosen))
            written[cell] = written.get(cell, 0) + len(chosen)
            rows += [
                Paraphrase(original, text, cell, ParaphraseKey(cell, task, version).text, source)
                for version, text in enumerate(chosen)
            ]
    results = {
        cell.name: CellResult(
            wanted=per_cell * len(originals) if cell in cells else 0,
            written=written.get(cell, 0),
            elsewhere=elsewhere.get(cell, 0),
            counts=summed(one.counts for one in filled if one.job.cell == cell),
        )
        for cell in CELLS
        if any(one.job.cell == cell for one in filled)
    }
    return tuple(rows), results


def missing_of(
    rows: Sequence[Paraphrase], originals: Sequence[str], cells: Sequence[Cell], per_cell: int
) -> dict[str, dict[str, int]]:
    """Return cell name -> original -> how many fewer than ``per_cell`` there are, where some are."""
    have: dict[tuple[str, Cell], int] = {}
    for row in rows:
        have[row.original, row.cell] = have.get((row.original, row.cell), 0) + 1
    missing: dict[str, dict[str, int]] = {}
    for cell in cells:
        for original in originals:
            lack = per_cell - have.get((original, cell), 0)
            if lack:
                missing.setdefault(cell.name, {})[original] = lack
    return missing
