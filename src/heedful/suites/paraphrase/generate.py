"""Paraphrases made by rules: every cell of the taxonomy, offline and the same under one seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from heedful.spec.errors import UserError
from heedful.spec.paraphrase import CELLS, Cell, Paraphrase, ParaphraseKey
from heedful.spec.seeds import generator
from heedful.spec.vocabulary import Vocabulary
from heedful.suites.paraphrase.actions import action_templates, worded
from heedful.suites.paraphrase.generation.screen import wording
from heedful.suites.paraphrase.lexicon import Lexicon, check_against, load_lexicon
from heedful.suites.paraphrase.objects import object_wordings
from heedful.suites.paraphrase.request import Request, read_request
from heedful.suites.paraphrase.rules import broken_rule

SOURCE = "rules"


@dataclass(frozen=True)
class Batch:
    """What was made, and what could not be.

    Attributes:
        paraphrases: By original, then by cell in the order asked for.
        missing: (original, cell name) -> how many fewer than asked for; only where some are,
            and of no refused original.
        refused: Original -> why no paraphrase of it was made.
    """

    paraphrases: tuple[Paraphrase, ...]
    missing: Mapping[tuple[str, str], int]
    refused: Mapping[str, str]


def generate(
    originals: Sequence[str],
    vocabulary: Vocabulary | None = None,
    cells: Iterable[Cell] = CELLS,
    per_cell: int = 4,
    seed: int = 0,
    lexicon: Lexicon | None = None,
    first_task: int = 0,
) -> Batch:
    """Return up to ``per_cell`` different paraphrases of every original in every cell.

    Nothing is invented to fill a cell: what the lexicon cannot word is counted as missing. No
    paraphrase says what an original, or a paraphrase of another original, says. More a cell
    extend the cell: its first ones stay.

    Args:
        originals: Different requests.
        vocabulary: Its requests are read exactly, and no paraphrase names another value of it.
        cells: Which cells to fill.
        per_cell: How many a cell and original.
        seed: Seed of every choice.
        lexicon: Words and templates; default: the shipped ones.
        first_task: Number of the first original in keys, so that batches can stand in one file.
    """
    lexicon = lexicon or load_lexicon()
    if vocabulary is not None:
        check_against(lexicon, vocabulary.grammar)
    cells = tuple(cells)
    made: list[Paraphrase] = []
    missing: dict[tuple[str, str], int] = {}
    refused: dict[str, str] = {}
    taken = {wording(original) for original in originals}
    for task, original in enumerate(originals, start=first_task):
        try:
            request = read_request(original, lexicon, vocabulary)
        except UserError as error:
            refused[original] = str(error)
            continue
        for cell in cells:
            found = _fill(request, cell, per_cell, seed, lexicon, taken)
            made += [
                Paraphrase(original, text, cell, ParaphraseKey(cell, task, version).text, SOURCE)
                for version, text in enumerate(found)
            ]
            if len(found) < per_cell:
                missing[original, cell.name] = per_cell - len(found)
    return Batch(tuple(made), missing, refused)


def _fill(
    request: Request, cell: Cell, per_cell: int, seed: int, lexicon: Lexicon, taken: set[str]
) -> list[str]:
    """Return up to ``per_cell`` paraphrases of one cell; they are added to ``taken``."""
    found: list[str] = []
    for text in _candidates(request, cell, seed, lexicon):
        if len(found) == per_cell:
            break
        if wording(text) in taken or broken_rule(request.text, text, request.foreign):
            continue
        taken.add(wording(text))
        found.append(text)
    return found


def _candidates(request: Request, cell: Cell, seed: int, lexicon: Lexicon) -> Iterator[str]:
    """Return every sentence of a cell: each step takes another template and another object."""
    rng = generator(seed, "paraphrase", request.text, cell.name)
    objects = object_wordings(request.rest, cell.object, lexicon, rng)
    if cell.object != "none":
        objects = [wording for wording in objects if wording != request.rest]
    templates = action_templates(request, cell.action, lexicon, rng)
    for shift in range(len(objects) if templates else 0):
        for i, template in enumerate(templates):
            yield worded(request, template, objects[(shift + i) % len(objects)])
