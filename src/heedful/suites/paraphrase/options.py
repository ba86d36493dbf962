"""What a user can choose of the paraphrase suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.spec.errors import UserError, unknown
from heedful.spec.paraphrase import CELLS, ORIGINAL
from heedful.spec.paraphrase import cell as cell_named
from heedful.spec.vocabulary import Vocabulary, load_vocabulary
from heedful.suites.given import MAX_COUNT, checked, known


@dataclass(frozen=True)
class ParaphraseOptions:
    """The options, resolved.

    Attributes:
        pairs: Pairs of factors whose training instructions are paraphrased, such as
            ``color,object``.
        instructions: Only these of the training instructions; empty: all.
        paraphrases: CSV made by ``heedful paraphrase make``; empty: made by rules.
        cells: Cells of the taxonomy, ``object/action``.
        per_cell: Different paraphrases a cell and instruction to choose from.
        rollouts: Paraphrase rollouts a pair: at 516, each of 43 cells meets each of 12
            instructions once.
        scenes: Scenes an instruction; each has its two controls.
        empty: Rollouts a pair with an empty instruction, on the first scenes.
        demos: Demonstrations a pair, where the suite is asked for them.
        vocabulary: A shipped vocabulary or the path of a YAML file.
    """

    __pydantic_config__ = {"extra": "forbid"}

    pairs: tuple[str, ...] = ("color,object",)
    instructions: tuple[str, ...] = ()
    paraphrases: str = ""
    cells: tuple[str, ...] = tuple(cell.name for cell in CELLS)
    per_cell: int = 4
    rollouts: int = 516
    scenes: int = 4
    empty: int = 48
    demos: int = 300
    vocabulary: str = "tabletop"

    def load(self) -> Vocabulary:
        """Return the vocabulary that these options name."""
        return load_vocabulary(self.vocabulary)


def resolve(given: Mapping[str, Any]) -> ParaphraseOptions:
    """Return ``given`` with defaults filled in.

    Args:
        given: Option -> value; ``pairs`` and ``cells`` are ``"all"``, one name or a list of
            names in any order.

    Raises:
        UserError: An unknown option, pair, cell or instruction (the nearest valid one is
            suggested), no such file, or a number below its least or above MAX_COUNT.
    """
    found = known(ParaphraseOptions, given, "paraphrase")
    vocabulary = load_vocabulary(str(found.get("vocabulary", ParaphraseOptions.vocabulary)))
    pairs = _names(found, "pairs", ParaphraseOptions.pairs, [b.name for b in vocabulary.bindings])
    found["pairs"] = list(dict.fromkeys(vocabulary.binding(pair).name for pair in pairs))
    cells = {
        cell_named(name) for name in _names(found, "cells", ParaphraseOptions.cells, ParaphraseOptions.cells)
    }
    if ORIGINAL in cells:
        raise UserError(f"{ORIGINAL.name} is the original wording; it is the control and always there.")
    found["cells"] = [cell.name for cell in CELLS if cell in cells]
    instructions = found.get("instructions", ())
    if isinstance(instructions, str):
        found["instructions"] = [instructions]
    options = checked(ParaphraseOptions, found, "paraphrase")
    for name in ("per_cell", "rollouts", "scenes", "empty", "demos"):
        number, least = getattr(options, name), 1 if name in ("per_cell", "scenes") else 0
        if not least <= number <= MAX_COUNT:
            raise UserError(
                f"Option {name} of suite paraphrase is {number}; it must be from {least} to {MAX_COUNT}."
            )
    if options.paraphrases and not Path(options.paraphrases).is_file():
        raise UserError(
            f"Option paraphrases of suite paraphrase is {options.paraphrases!r}: there is no such file; "
            "`heedful paraphrase make` writes one."
        )
    taught = [text for pair in options.pairs for text in taught_instructions(vocabulary, pair)]
    for text in options.instructions:
        if text not in taught:
            raise unknown(f"training instruction of {' or '.join(options.pairs)}", text, taught)
    return options


def taught_instructions(vocabulary: Vocabulary, pair: str) -> list[str]:
    """Return the training instructions of a pair, in the order in which its scenes go through them."""
    binding = vocabulary.binding(pair)
    return [
        vocabulary.grammar.instruction(binding.values(*combination, carriers)).text
        for carriers in binding.carrier_choices()
        for combination in binding.bound
    ]


def _names(
    given: Mapping[str, Any], option: str, default: tuple[str, ...], every: list[str] | tuple[str, ...]
) -> list[str]:
    """Return the names that an option lists, ``all`` spelt out."""
    listed = given.get(option, default)
    names = [listed] if isinstance(listed, str) else listed
    if not isinstance(names, list | tuple) or not names or not all(isinstance(n, str) and n for n in names):
        raise UserError(
            f"Option {option} of suite paraphrase is {listed!r}; name one, a list of them or 'all'."
        )
    return list(every) if "all" in names else list(names)
