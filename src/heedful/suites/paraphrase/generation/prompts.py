"""Rules and data become questions to the generator and to the verifier.

``avoid`` are wordings that exist already, ``foreign`` words that would say another request of the
vocabulary.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from heedful.spec.paraphrase import Cell
from heedful.suites.paraphrase.generation.rules import Category, Rules

ABOUT = {"action": "How the action is to be worded", "object": "How the object is to be worded"}


@dataclass(frozen=True)
class Prompt:
    """What a model is told: who it is and by which rules, and the data to work on."""

    system: str
    user: str


def candidates_prompt(
    rules: Rules,
    original: str,
    cell: Cell,
    count: int,
    avoid: Sequence[str] = (),
    foreign: Collection[str] = (),
) -> Prompt:
    """Ask the generator for ``count`` paraphrases of ``original`` in a cell of one axis.

    Args:
        rules: What it is told.
        original: The instruction.
        cell: What kind of paraphrase.
        count: How many.
        avoid: Wordings that must not come again.
        foreign: Words that must not be used.
    """
    task = (
        f"Write {count} different paraphrases of the instruction in the field original, all of this "
        "category. Change only what the category is about."
    )
    data = {"original": original, "count": count, "do_not_repeat": list(avoid), "do_not_use": sorted(foreign)}
    return Prompt(_writer(rules, task, cell), _json(data))


def merge_prompt(
    rules: Rules,
    original: str,
    cell: Cell,
    pairs: Sequence[tuple[str, str]],
    avoid: Sequence[str] = (),
    foreign: Collection[str] = (),
) -> Prompt:
    """Ask the generator to merge verified paraphrases of the two axes, one for every pair.

    Args:
        rules: What it is told.
        original: The instruction.
        cell: Both categories.
        pairs: (paraphrase that rewords the action, paraphrase that rewords the object).
        avoid: Wordings that must not come again.
        foreign: Words that must not be used.
    """
    task = (
        f"Each of the {len(pairs)} entries of the field pairs holds two paraphrases of the instruction in "
        "the field original: one rewords the action, the other the object. For every entry write one "
        "paraphrase that words the action as the one and the object as the other. It must belong to both "
        "categories. No two may be alike."
    )
    entries = [{"action": action, "object": obj} for action, obj in pairs]
    data = {
        "original": original,
        "pairs": entries,
        "do_not_repeat": list(avoid),
        "do_not_use": sorted(foreign),
    }
    return Prompt(_writer(rules, task, cell), _json(data))


def verify_prompt(rules: Rules, original: str, cell: Cell, candidates: Sequence[str]) -> Prompt:
    """Ask the verifier about every candidate; it does not see what the generator was asked.

    Args:
        rules: What it is told.
        original: The instruction.
        cell: What kind of paraphrase they are meant to be.
        candidates: What to check.
    """
    fields = "\n".join(f"- {name}: {meaning}" for name, meaning in rules.checks.items())
    shape = json.dumps([{"id": 1, **dict.fromkeys(rules.checks, True)}])
    system = "\n".join(
        (
            rules.checker.strip(),
            rules.data_note.strip(),
            "\nJudge every entry of the field paraphrases as a paraphrase of the field original. "
            "What holds for a good one:",
            _list(rules.always),
            _categories(rules, cell),
            "\nAnswer for every entry, each true or false:",
            fields,
            "\nAnswer with nothing but a JSON list, one object for every entry, in this form:",
            shape,
        )
    )
    entries = [{"id": i, "text": text} for i, text in enumerate(candidates, start=1)]
    return Prompt(system, _json({"original": original, "paraphrases": entries}))


def _writer(rules: Rules, task: str, cell: Cell) -> str:
    return "\n".join(
        (
            rules.writer.strip(),
            rules.data_note.strip(),
            f"\n{task}",
            "\nAlways:",
            _list(rules.always),
            _categories(rules, cell),
            "\nWrite no entry of the field do_not_repeat again, and use no word of the field do_not_use.",
            'Answer with nothing but a JSON list of strings, such as ["...", "..."].',
        )
    )


def _categories(rules: Rules, cell: Cell) -> str:
    names = {"action": cell.action, "object": cell.object}
    found = rules.categories(cell)
    parts = [_category(f"{ABOUT[about]} ({names[about]})", category) for about, category in found.items()]
    if len(found) > 1:
        parts.insert(0, f"\n{rules.both}")
    return "\n".join(parts)


def _category(title: str, category: Category) -> str:
    examples = [f"{_json(e.original)} -> {_json(e.paraphrase)}" for e in category.examples]
    return "\n".join(
        (
            f"\n{title}: {category.definition}",
            "Do:",
            _list(category.do),
            "Do not:",
            _list(category.dont),
            "Examples:",
            _list(examples),
        )
    )


def _list(entries: Sequence[str]) -> str:
    return "\n".join(f"- {entry}" for entry in entries)


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False)
