from pathlib import Path
from typing import Any

import pytest
import yaml

from heedful.spec.errors import UserError
from heedful.spec.grammar import Factor, Grammar
from heedful.spec.vocabulary import load_vocabulary
from heedful.suites.paraphrase.lexicon import SHIPPED, check_against, load_lexicon

TABLETOP = load_vocabulary()


@pytest.fixture
def data() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(SHIPPED.read_text())
    return loaded


def read(data: dict[str, Any], folder: Path) -> Any:
    path = folder / "lexicon.yaml"
    path.write_text(yaml.safe_dump(data))
    return load_lexicon(path)


def test_no_value_of_the_tabletop_grammar_is_worded_like_another() -> None:
    check_against(load_lexicon(), TABLETOP.grammar)


@pytest.mark.parametrize("factor", [f.name for f in TABLETOP.grammar.factors])
def test_every_value_has_words_of_both_kinds(factor: str) -> None:
    lexicon = load_lexicon()
    for value in TABLETOP.grammar.factor(factor).values:
        place = next((p for p in lexicon.phrases if p == f"on the {value} of the table"), value)
        entry = lexicon.verbs.get(value) or lexicon.terms[place]
        assert entry.habitual, value
        assert entry.contextual, value
        assert not set(entry.habitual) & set(entry.contextual)


def test_a_word_for_two_values_of_a_factor_is_refused(data: dict[str, Any], tmp_path: Path) -> None:
    data["verbs"]["push"]["contextual"].append("hoist")
    with pytest.raises(UserError, match=r"'hoist' stands for 'push' and for 'lift'"):
        check_against(read(data, tmp_path), TABLETOP.grammar)


def test_a_word_that_says_another_value_is_refused(data: dict[str, Any], tmp_path: Path) -> None:
    data["verbs"]["push"]["contextual"].append("slide {object} forward")
    with pytest.raises(UserError, match=r"for 'push', says 'slide'"):
        check_against(read(data, tmp_path), TABLETOP.grammar)


def test_a_grammar_whose_value_is_a_synonym_here_is_refused() -> None:
    grammar = Grammar("two", "{verb} it", (Factor("verb", ("lift", "raise"), "action"),))
    with pytest.raises(UserError, match="raise"):
        check_against(load_lexicon(), grammar)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("verbs", "lift", "habitually"), ["raise"], "habitually"),
        (("adverbs",), {}, "adverbs"),
        (("actions", "hints"), ["{do}"], "Did you mean 'hint'"),
        (("actions", "hint"), ["It is time to {act}"], "'act'"),
        (("actions", "hint"), [], "no templates for hint"),
        (("nouns", "cube", "contextual"), ["block", "square block"], "'square block' more than once"),
    ],
)
def test_a_mistake_in_the_file_is_one_line_that_names_it(
    data: dict[str, Any], tmp_path: Path, path: tuple[str, ...], value: object, said: str
) -> None:
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(UserError) as refused:
        read(data, tmp_path)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nowhere.yaml"):
        load_lexicon(tmp_path / "nowhere.yaml")
