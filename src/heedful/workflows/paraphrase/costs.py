"""What asking language models costs: tokens always, money where prices are given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from heedful.spec.errors import UserError
from heedful.spec.paraphrase import Cell
from heedful.suites.paraphrase.generation.prompts import candidates_prompt, merge_prompt, verify_prompt
from heedful.suites.paraphrase.generation.rules import Rules
from heedful.suites.paraphrase.generation.stages import (
    candidates_asked,
    expected_calls,
    ingredients,
    most_calls,
)

_LETTERS_A_TOKEN = 4  # of English prose, roughly, with the tokenizers of today's models
_TOKENS_A_TEXT = 15
_TOKENS_A_CHECK = 8


@dataclass(frozen=True)
class Price:
    """Money for a million tokens, in whatever currency the user thinks in."""

    input: float
    output: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(price) and price >= 0 for price in (self.input, self.output)):
            raise UserError(f"Prices must be 0 or more, but are {self.input} and {self.output}.")


@dataclass(frozen=True)
class Usage:
    """What one of the two models was asked, earlier commands on the same folder included.

    Attributes:
        calls: Answers used.
        sent: Of these, asked by this command; the others were kept from earlier ones.
        input_tokens: Read, as counted by the service.
        output_tokens: Written, hidden reasoning included.
        untold: Answers of which the service did not count the tokens: the sums lack them.
    """

    calls: int = 0
    sent: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    untold: int = 0

    def money(self, price: Price | None) -> float | None:
        """Return what the tokens cost; ``None`` without a price."""
        if price is None:
            return None
        return (self.input_tokens * price.input + self.output_tokens * price.output) / 1e6


@dataclass(frozen=True)
class CallPlan:
    """What a job will ask.

    Attributes:
        cells: Cells to fill, ingredients included, over all instructions.
        expected: Calls if every first answer is good enough.
        most: Calls at most.
        input_tokens: About so many are read in the expected calls.
        output_tokens: About so many are written, without any hidden reasoning.
        kept: Answers in the folder already.
    """

    cells: int
    expected: int
    most: int
    input_tokens: int
    output_tokens: int
    kept: int


def call_plan(
    originals: Sequence[str], cells: Sequence[Cell], per_cell: int, rules: Rules, kept: int
) -> CallPlan:
    """Return what filling ``cells`` for every original asks of the models.

    Args:
        originals: The instructions.
        cells: The cells wanted.
        per_cell: Paraphrases a cell and instruction.
        rules: What the models are told.
        kept: Answers in the folder already.
    """
    filled = (*ingredients(cells), *(c for c in cells if c.category == "comp"))
    count = candidates_asked(per_cell)
    jobs = len(originals) * len(filled)
    pairs = expected_calls(per_cell) / expected_calls(1)  # of a question and its check, for one cell
    letters = sum(_letters(rules, original, cell, count) for original in originals for cell in filled)
    tokens_a_text = _TOKENS_A_TEXT + _TOKENS_A_CHECK * (1 + len(rules.checks))
    return CallPlan(
        cells=jobs,
        expected=expected_calls(per_cell) * jobs,
        most=most_calls(per_cell) * jobs,
        input_tokens=round(letters * pairs / _LETTERS_A_TOKEN),
        output_tokens=jobs * max(count, per_cell) * tokens_a_text,
        kept=kept,
    )


def _letters(rules: Rules, original: str, cell: Cell, count: int) -> int:
    """Return the length of the two prompts that fill ``cell`` if all goes well."""
    texts = [original] * count
    if cell.category == "comp":
        written = merge_prompt(rules, original, cell, [(original, original)] * count)
    else:
        written = candidates_prompt(rules, original, cell, count)
    checked = verify_prompt(rules, original, cell, texts)
    return sum(len(prompt.system) + len(prompt.user) for prompt in (written, checked))
