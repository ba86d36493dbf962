"""Cases: paraphrases on the scenes of their originals, and two controls a scene.

Each original has a few scenes, at least one distractor in each, so that words matter. Every
paraphrase of it meets one of them with the original's goal and seed. On each scene the
original itself and the empty instruction are asked too: the matched controls.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heedful.spec.case import Case
from heedful.spec.codec import digest
from heedful.spec.errors import UserError
from heedful.spec.grammar import Instruction
from heedful.spec.paraphrase import ORIGINAL, Cell, Paraphrase
from heedful.spec.paraphrase import cell as cell_named
from heedful.spec.vocabulary import Binding, Vocabulary
from heedful.suites.factors.scenes import object_name
from heedful.suites.factors.tasks import bound_scene
from heedful.suites.paraphrase.file import read_paraphrases
from heedful.suites.paraphrase.generate import generate
from heedful.suites.paraphrase.options import ParaphraseOptions, taught_instructions

SUITE = "paraphrase"
ASKED, CONTROL, WORDLESS = "paraphrase", "original", "empty_instruction"

FEWEST_DISTRACTORS = 1


@dataclass(frozen=True)
class Turn:
    """One paraphrase rollout to come.

    Attributes:
        original: Which of the originals.
        paraphrase: The words.
        scene: Which of the original's scenes.
    """

    original: int
    paraphrase: Paraphrase
    scene: int


def pair_cases(vocabulary: Vocabulary, binding: Binding, options: ParaphraseOptions) -> list[Case]:
    """Return the cases of one pair: paraphrases, originals, empty instructions.

    Raises:
        UserError: No paraphrase of an instruction of the pair in any of the cells.
    """
    taught = taught_instructions(vocabulary, binding.name)
    kept = [i for i, text in enumerate(taught) if not options.instructions or text in options.instructions]
    words = paraphrases_of(vocabulary, binding, options)
    if kept and not any((taught[i], cell) in words for i in kept for cell in _cells(options)):
        raise UserError(
            f"{options.paraphrases or 'The lexicon'} has no paraphrase of an instruction of {binding.name} "
            f"in the cells asked for; one of its instructions is {taught[kept[0]]!r}."
        )
    controls = [[_control(vocabulary, binding, i, scene) for scene in range(options.scenes)] for i in kept]
    turns = _turns([taught[i] for i in kept], words, options)
    asked = [
        _paraphrased(controls[turn.original][turn.scene], turn.paraphrase)
        for turn in itertools.islice(turns, options.rollouts)
    ]
    originals = [case for row in zip(*controls, strict=True) for case in row]  # the first scene of each first
    wordless = [_without_words(case) for case in originals[: options.empty]]
    return [*asked, *originals, *wordless]


def paraphrases_of(
    vocabulary: Vocabulary, binding: Binding, options: ParaphraseOptions
) -> dict[tuple[str, Cell], list[Paraphrase]]:
    """Return (original, cell) -> its paraphrases, 1 to ``per_cell`` of them; others have no entry.

    Rows of a file whose original is no instruction of the pair are left aside: one file may
    serve several pairs.
    """
    taught, cells = taught_instructions(vocabulary, binding.name), _cells(options)
    if options.paraphrases:
        made: Sequence[Paraphrase] = read_paraphrases(Path(options.paraphrases))
    else:
        earlier = itertools.takewhile(lambda other: other != binding, vocabulary.bindings)
        first = sum(len(taught_instructions(vocabulary, other.name)) for other in earlier)
        made = generate(taught, vocabulary, cells, options.per_cell, first_task=first).paraphrases
    found: dict[tuple[str, Cell], list[Paraphrase]] = {}
    for paraphrase in made:
        if paraphrase.original in taught and paraphrase.cell in cells:
            listed = found.setdefault((paraphrase.original, paraphrase.cell), [])
            if len(listed) < options.per_cell:
                listed.append(paraphrase)
    return found


def _turns(
    originals: Sequence[str], words: Mapping[tuple[str, Cell], list[Paraphrase]], options: ParaphraseOptions
) -> Iterator[Turn]:
    """Return every meeting of a paraphrase and a scene of its original, once each.

    Where every cell has paraphrases of every original, any first n are spread over cells with
    counts that differ by at most one, and over originals and scenes: a round meets each cell and
    original once, with the next paraphrase on the next scene. So more rollouts only extend the
    list.
    """
    cells = _cells(options)
    for turn in range(options.per_cell * options.scenes):
        for row, (column, cell) in itertools.product(range(len(originals)), enumerate(cells)):
            at = (row + column) % len(originals)
            listed = words.get((originals[at], cell), ())
            if turn < len(listed) * options.scenes:
                again, version = divmod(turn, len(listed))
                yield Turn(at, listed[version], (at + column + version + again) % options.scenes)


def _cells(options: ParaphraseOptions) -> tuple[Cell, ...]:
    return tuple(cell_named(name) for name in options.cells)


def _control(vocabulary: Vocabulary, binding: Binding, index: int, scene: int) -> Case:
    """Return the ``index``-th original on its ``scene``-th scene."""
    text = taught_instructions(vocabulary, binding.name)[index]
    key = f"{binding.slug}/{text.replace(' ', '-')}/{scene:02d}"
    combination, instruction, shown, verb = bound_scene(
        vocabulary, binding, index, f"{SUITE}/{key}", FEWEST_DISTRACTORS
    )
    scoring = {
        "pair": binding.name,
        "original": instruction.text,
        "cell": ORIGINAL.name,
        "key": "",
        "target": object_name(binding, combination),
        "verb": verb,
    }
    return Case(f"{key}/original", SUITE, CONTROL, instruction, shown, scoring, seed_key=f"{SUITE}/{key}")


def _paraphrased(control: Case, paraphrase: Paraphrase) -> Case:
    """Return the control in other words; its id tells apart two texts of one key."""
    said = {"cell": paraphrase.cell.name, "key": paraphrase.key}
    return replace(
        control,
        id=f"{control.id.removesuffix('original')}{paraphrase.key}-{digest({'text': paraphrase.text}, 6)}",
        arm=ASKED,
        instruction=Instruction(paraphrase.text, control.instruction.values),
        scoring={**control.scoring, **said},
    )


def _without_words(control: Case) -> Case:
    """Return the empty-instruction control: same scene, same seed, no words."""
    return replace(
        control,
        id=f"{control.id.removesuffix('original')}empty",
        arm=WORDLESS,
        instruction=Instruction(""),
    )
