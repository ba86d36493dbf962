import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.language.chat import Reply
from heedful.spec.paraphrase import CELLS, Cell
from heedful.suites.paraphrase.generation.prompts import Prompt
from heedful.suites.paraphrase.generation.rules import load_rules
from heedful.suites.paraphrase.generation.stages import (
    CHECKED_AT_ONCE,
    WRITTEN_AT_ONCE,
    Job,
    Role,
    candidates_asked,
    expected_calls,
    fill,
    ingredients,
    most_calls,
    paired,
    rounds,
)

RULES = load_rules()
HINT = Cell("none", "hint")


def complete(data: object) -> Reply:
    return Reply(json.dumps(data), "complete")


def approve(prompt: Prompt, good: Callable[[str], bool] = lambda text: True) -> Reply:
    entries = json.loads(prompt.user)["paraphrases"]
    return complete([{"id": e["id"], **dict.fromkeys(RULES.checks, good(e["text"]))} for e in entries])


class Models:
    """Writes what ``writes`` returns for the round; checks by ``check``; remembers every question."""

    def __init__(
        self, writes: Callable[[int, Any], Reply], check: Callable[[Prompt], Reply] = approve
    ) -> None:
        self.writes = writes
        self.check = check
        self.asked: list[tuple[Role, Prompt, int]] = []

    def __call__(self, role: Role, prompt: Prompt, number: int) -> Reply:
        self.asked.append((role, prompt, number))
        if role == "verifier":
            return self.check(prompt)
        return self.writes(number, json.loads(prompt.user))

    def count(self, role: Role) -> int:
        return sum(who == role for who, _, _ in self.asked)


def numbered(number: int, data: Any) -> Reply:
    written = len(data["do_not_repeat"])
    count = len(data["pairs"]) if "pairs" in data else data["count"]
    return complete([f"text {written + i}" for i in range(count)])


def job(wanted: int = 4, cell: Cell = HINT, pairs: Sequence[tuple[str, str]] = ()) -> Job:
    return Job("lift the cup", cell, wanted, tuple(pairs))


def test_good_models_fill_a_cell_with_one_question_each() -> None:
    models = Models(numbered)
    filled = fill(job(), RULES, models)
    assert filled.texts == tuple(f"text {i}" for i in range(6))
    assert [who for who, _, _ in models.asked] == ["generator", "verifier"]
    assert (filled.counts.asked, filled.counts.candidates, filled.counts.verified) == (1, 6, 6)


def test_what_the_verifier_rejects_is_replaced_and_never_asked_for_again() -> None:
    models = Models(numbered, lambda prompt: approve(prompt, lambda text: int(text.split()[1]) % 3 == 0))
    filled = fill(job(3), RULES, models)
    assert filled.texts == ("text 0", "text 3", "text 6")
    assert filled.counts.rejected == filled.counts.candidates - 3
    assert filled.rejections == dict.fromkeys(RULES.checks, filled.counts.rejected)
    second = json.loads([p for who, p, _ in models.asked if who == "generator"][1].user)
    assert second["do_not_repeat"] == [f"text {i}" for i in range(5)]


def test_one_failed_check_is_enough() -> None:
    def check(prompt: Prompt) -> Reply:
        entries = json.loads(prompt.user)["paraphrases"]
        return complete(
            [{"id": e["id"], **dict.fromkeys(RULES.checks, True), "format": False} for e in entries]
        )

    filled = fill(job(), RULES, Models(numbered, check))
    assert filled.texts == ()
    assert filled.rejections == {"format": filled.counts.candidates}


@pytest.mark.parametrize(
    ("reply", "count"),
    [
        (Reply("I'd rather not", "refused"), "refused"),
        (Reply('["lift it",', "truncated"), "truncated"),
        (Reply("here you go", "complete"), "malformed"),
        (Reply("", "complete"), "malformed"),
    ],
)
def test_refused_cut_off_and_malformed_answers_are_counted_and_nothing_of_them_is_kept(
    reply: Reply, count: str
) -> None:
    models = Models(lambda number, data: reply)
    filled = fill(job(), RULES, models)
    assert filled.texts == ()
    assert filled.counts.asked == getattr(filled.counts, count) == rounds(4)
    assert filled.counts.candidates == 0
    assert models.count("verifier") == 0
    assert [number for _, _, number in models.asked] == [0, 1, 2]


@pytest.mark.parametrize(
    ("reply", "count"),
    [
        (Reply("", "refused"), "verifier_refused"),
        (Reply("[", "truncated"), "verifier_truncated"),
        (Reply("all fine!", "complete"), "verifier_malformed"),
        (Reply('[{"id": 1}]', "complete"), "verifier_malformed"),
    ],
)
def test_what_the_verifier_does_not_answer_about_is_not_kept(reply: Reply, count: str) -> None:
    models = Models(numbered, lambda prompt: reply)
    filled = fill(job(), RULES, models)
    assert filled.texts == ()
    assert filled.counts.unverified == filled.counts.candidates > 0
    assert filled.counts.verifier_asked == getattr(filled.counts, count) == 2 * rounds(4)


def test_a_verifier_that_stumbles_once_is_asked_again() -> None:
    left = [Reply("hm", "complete")]
    models = Models(numbered, lambda prompt: left.pop() if left else approve(prompt))
    filled = fill(job(), RULES, models)
    assert len(filled.texts) == 6
    assert (filled.counts.verifier_asked, filled.counts.verifier_malformed) == (2, 1)
    assert [number for who, _, number in models.asked if who == "verifier"] == [0, 1]


def test_answers_with_another_number_of_items_are_taken_for_what_they_are() -> None:
    few = fill(job(), RULES, Models(lambda number, data: complete([f"few {number}"])))
    assert few.texts == ("few 0", "few 1", "few 2")
    many = fill(job(), RULES, Models(lambda number, data: complete([f"many {i}" for i in range(50)])))
    assert many.texts == tuple(f"many {i}" for i in range(6))
    assert many.counts.surplus == 44


def test_repetitions_flaws_and_foreign_words_never_reach_the_verifier() -> None:
    texts = ["Lift  the cup!", "hoist it", "HOIST it.", "two\nlines", "taken already", "push the cup"]
    models = Models(lambda number, data: complete(texts))
    asked = Job("lift the cup", HINT, 4, (), frozenset({"taken already"}), frozenset({"push"}))
    filled = fill(asked, RULES, models)
    assert filled.texts == ("hoist it",)
    first = fill(asked, RULES, Models(lambda n, data: complete(texts) if n == 0 else Reply("", "refused")))
    assert (first.counts.repeated, first.counts.flawed, first.counts.foreign) == (3, 1, 1)
    (check,) = [p for who, p, _ in models.asked if who == "verifier"]
    assert [e["text"] for e in json.loads(check.user)["paraphrases"]] == ["hoist it"]


def test_a_composition_merges_pairs_that_use_every_variant_and_needs_both() -> None:
    cell = Cell("addition_deletion", "hint")
    pairs = paired(["a1", "a2"], ["o1", "o2", "o3"])
    assert len(set(pairs)) == 6
    assert {a for a, _ in pairs[:3]} == {"a1", "a2"} and len({o for _, o in pairs[:4]}) == 3
    models = Models(numbered)
    filled = fill(job(4, cell, pairs), RULES, models)
    assert len(filled.texts) == 6
    sent = json.loads(models.asked[0][1].user)["pairs"]
    assert [(p["action"], p["object"]) for p in sent] == list(pairs)
    assert paired(["a1"], []) == paired([], ["o1"]) == ()
    empty = Models(numbered)
    assert fill(job(4, cell, ()), RULES, empty).texts == ()
    assert empty.asked == []


def test_ingredients_are_the_single_axes_of_what_is_wanted() -> None:
    assert len(ingredients(CELLS)) == 13
    assert ingredients([Cell("addition_deletion", "hint")]) == (Cell("addition_deletion", "none"), HINT)
    assert ingredients([HINT]) == (HINT,)


@given(st.integers(1, 300))
def test_questions_are_bounded_and_foreseen(wanted: int) -> None:
    good = Models(numbered)
    assert len(fill(job(wanted), RULES, good).texts) >= wanted
    assert len(good.asked) == expected_calls(wanted) <= most_calls(wanted)
    bad = Models(numbered, lambda prompt: Reply("?", "complete"))
    assert fill(job(wanted), RULES, bad).texts == ()
    assert len(bad.asked) == most_calls(wanted)
    for who, prompt, _ in good.asked:
        data = json.loads(prompt.user)
        if who == "verifier":
            assert len(data["paraphrases"]) <= CHECKED_AT_ONCE
        else:
            assert data["count"] <= WRITTEN_AT_ONCE
    assert candidates_asked(wanted) <= WRITTEN_AT_ONCE
