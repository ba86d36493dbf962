import re
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.spec.errors import UserError
from heedful.spec.paraphrase import CELLS, Cell, parse_key
from heedful.spec.vocabulary import load_vocabulary
from heedful.suites.paraphrase.generate import Batch, generate
from heedful.suites.paraphrase.generation.screen import wording
from heedful.suites.paraphrase.lexicon import load_lexicon, words
from heedful.suites.paraphrase.options import taught_instructions
from heedful.suites.paraphrase.rules import broken_rule

TABLETOP = load_vocabulary()
GRAMMAR = TABLETOP.grammar
LEXICON = load_lexicon()
PER_CELL = 4


@st.composite
def instructions(draw: st.DrawFn) -> str:
    values = {"verb": draw(st.sampled_from(GRAMMAR.factor("verb").values))}
    values["object"] = draw(st.sampled_from(GRAMMAR.factor("object").values))
    for name in ("size", "color", "spatial"):
        value = draw(st.sampled_from((None, *GRAMMAR.factor(name).values)))
        if value is not None:
            values[name] = value
    return GRAMMAR.instruction(values).text


def by_cell(batch: Batch) -> dict[tuple[str, Cell], list[str]]:
    found: dict[tuple[str, Cell], list[str]] = defaultdict(list)
    for paraphrase in batch.paraphrases:
        found[paraphrase.original, paraphrase.cell].append(paraphrase.text)
    return found


@settings(max_examples=25, deadline=None)
@given(instructions(), st.integers(0, 3))
def test_every_instruction_of_the_grammar_fills_every_cell_within_the_rules(text: str, seed: int) -> None:
    batch = generate([text], TABLETOP, per_cell=PER_CELL, seed=seed)
    assert not batch.missing
    assert not batch.refused
    assert Counter(p.cell for p in batch.paraphrases) == dict.fromkeys(CELLS, PER_CELL)
    assert len({wording(p.text) for p in batch.paraphrases}) == len(batch.paraphrases)
    values = TABLETOP.parse(text).values
    foreign = frozenset({v for f in GRAMMAR.factors for v in f.values} - set(values.values()))
    for p in batch.paraphrases:
        assert broken_rule(text, p.text, foreign) == "", p
        with pytest.raises(UserError):
            TABLETOP.parse(p.text)  # it would be another instruction's wording
        found = words(p.text)
        for factor in ("size", "color", "object"):
            if factor in values:
                assert _says(values[factor], found), (factor, p)
        if p.cell.object == "none":
            assert text.partition(" ")[2] in p.text or text.partition(" ")[2].capitalize() in p.text
        elif p.cell.object != "addition_deletion":
            assert not re.search(rf"{text.partition(' ')[2]}(?![\w-])", p.text), p
        if p.cell.action not in ("same_polarity_contextual", "same_polarity_habitual"):
            verb = LEXICON.verbs[values["verb"]]
            assert {values["verb"], verb.participle, verb.gerund} & set(found), p
        else:
            assert values["verb"] not in found


def _says(value: str, found: list[str]) -> bool:
    """Return whether a value or a listed substitute of it stands in a text."""
    entry = LEXICON.terms[value]
    said = f" {' '.join(found)} "
    return any(f" {' '.join(words(w))} " in said for w in (value, *entry.habitual, *entry.contextual))


@pytest.mark.parametrize("pair", [b.name for b in TABLETOP.bindings])
def test_no_two_instructions_of_a_pair_share_a_paraphrase(pair: str) -> None:
    originals = taught_instructions(TABLETOP, pair)
    apart = [generate([text], TABLETOP).paraphrases for text in originals]  # each for itself
    texts = [wording(p.text) for batch in apart for p in batch]
    assert len(set(texts)) == len(texts)


def test_equal_seeds_give_equal_paraphrases_and_others_do_not() -> None:
    one, again, other = (generate(["lift the red cube"], TABLETOP, seed=seed) for seed in (5, 5, 6))
    assert one == again
    assert one.paraphrases != other.paraphrases


def test_more_a_cell_extend_it() -> None:
    few, many = (by_cell(generate(["lift the red cube"], TABLETOP, per_cell=n)) for n in (2, 6))
    assert all(many[key][:2] == texts for key, texts in few.items())


def test_keys_say_cell_task_and_version() -> None:
    batch = generate(["lift the red cube", "put the bowl on the stove"], TABLETOP, per_cell=2, first_task=7)
    assert len({p.key for p in batch.paraphrases}) == len(batch.paraphrases)
    for p in batch.paraphrases:
        key = parse_key(p.key)
        assert key.cell == p.cell
        assert key.task == 7 + (p.original == "put the bowl on the stove")


def test_a_request_outside_the_grammar_gets_what_its_words_allow() -> None:
    batch = generate(["fold the towel"], TABLETOP, per_cell=2)
    made = Counter(p.cell for p in batch.paraphrases)
    assert made[Cell("none", "hint")] == made[Cell("addition_deletion", "coordination")] == 1 + 1
    assert made[Cell("none", "same_polarity_habitual")] == 0
    assert batch.missing["fold the towel", "none/same_polarity_habitual"] == 2
    assert all("towel" in p.text and "fold" in p.text.lower() for p in batch.paraphrases)
    assert sum(made.values()) + sum(batch.missing.values()) == 2 * len(CELLS)


def test_what_is_no_request_is_refused_and_nothing_is_made_of_it() -> None:
    batch = generate(["the bowl is here"], TABLETOP)
    assert batch.paraphrases == ()
    assert "plain request" in batch.refused["the bowl is here"]
    assert not batch.missing


def test_a_second_verb_keeps_its_form() -> None:
    batch = generate(["open the top drawer and put the bowl inside"], TABLETOP, per_cell=20)
    assert batch.paraphrases
    for p in batch.paraphrases:
        assert not {"opening", "opened"} & set(words(p.text)), p.text


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("put the bowls on the plates", "that bowls"),
        ("push the plate to the front of the stove", "that front"),
        ("lift the smallest cube", "that smallest"),
    ],
)
def test_the_article_is_left_where_that_would_be_wrong(text: str, never: str) -> None:
    batch = generate([text], TABLETOP, [c for c in CELLS if c.object == "addition_deletion"], per_cell=50)
    assert all(never not in p.text for p in batch.paraphrases)


def test_capitals_follow_the_original() -> None:
    lexical = [Cell("none", "addition_deletion")]
    assert all(p.text[0].isupper() for p in generate(["Turn on the stove"], cells=lexical).paraphrases)
    assert all(p.text[0].islower() for p in generate(["turn on the stove"], cells=lexical).paraphrases)


def test_a_particle_goes_after_it() -> None:
    batch = generate(["turn on the stove"], cells=[Cell("none", "coordination")], per_cell=50)
    assert any(p.text.endswith("turn it on") for p in batch.paraphrases)
    assert not any("turn on it" in p.text for p in batch.paraphrases)
