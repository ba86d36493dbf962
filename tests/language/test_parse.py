import subprocess
import sys
from pathlib import Path

import pytest

from heedful.language import parse as parsing
from heedful.language.kept import Kept
from heedful.language.parse import MAX_TOKENS, parse, readable
from heedful.spec.errors import UserError
from heedful.spec.syntax import Parse, Tree


def test_keywords_are_lemmas_of_content_words_repetitions_kept(spacy_model: Path) -> None:
    (found,) = parse(["Putting the bowls quickly beside the other bowls"])
    assert found.keywords == ("put", "bowl", "quickly", "other", "bowl")


def test_the_tree_is_that_of_the_root_with_children_in_the_order_of_their_labels(spacy_model: Path) -> None:
    (found,) = parse(["put the bowl on the stove"])
    noun = Tree.of("dobj NOUN", Tree.of("det DET"))
    place = Tree.of("prep ADP", Tree.of("pobj NOUN", Tree.of("det DET")))
    assert found == Parse(("put", "bowl", "stove"), Tree.of("ROOT VERB", noun, place), 1)


def test_only_the_first_sentence_gives_the_tree_but_all_give_keywords(spacy_model: Path) -> None:
    one, two = parse(["put the bowl on the stove.", "put the bowl on the stove. then open the drawer."])
    assert (one.sentences, two.sentences) == (1, 2)
    assert two.tree == one.tree
    assert two.keywords == (*one.keywords, "then", "open", "drawer")


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\x00", "\u200b", "\ufeff"])
def test_a_text_without_words_has_the_empty_tree(text: str, spacy_model: Path) -> None:
    assert parse([text]) == [Parse((), Tree(), 0)]


@pytest.mark.parametrize(
    "text",
    [
        "  put the bowl",
        "put\tthe  bowl\r\n",
        "PUT the\x00BOWL",
        "put the\u200bbowl",
        "put\u00a0the bowl",
        "\ufeffput the bowl",
    ],
)
def test_case_and_odd_white_space_do_not_count(text: str, spacy_model: Path) -> None:
    assert readable(text) == "put the bowl"
    assert parse([text]) == parse(["put the bowl"])


def test_half_a_surrogate_pair_does_not_crash(spacy_model: Path) -> None:
    assert parse(["put the bowl \ud83d"])[0].keywords[0] == "put"


@pytest.mark.parametrize(
    "text",
    ["把碗放在盘子上", "поставь миску на плиту", "ضع الوعاء", "😀 put the bowl", "Füge die Schüssel hinzu"],
)
def test_other_alphabets_are_parsed(text: str, spacy_model: Path) -> None:
    (found,) = parse([text])
    assert found.sentences >= 1
    assert len(found.tree) >= 1


@pytest.mark.parametrize(
    "text", ["(" * 10_000, "put the bowl on the plate and " * 334, "a b " * 2_500, "word " * (MAX_TOKENS + 1)]
)
def test_of_a_long_text_only_so_much_is_read(text: str, spacy_model: Path) -> None:
    (found,) = parse([text])
    assert found.cut
    assert len(found.tree) <= MAX_TOKENS
    assert len(found.keywords) <= MAX_TOKENS


def test_what_is_just_short_enough_is_not_cut(spacy_model: Path) -> None:
    assert not parse(["word " * MAX_TOKENS])[0].cut
    assert parse(["x" * 2_001])[0].cut
    assert not parse(["x" * 2_000])[0].cut


def test_a_parse_does_not_depend_on_its_company(spacy_model: Path) -> None:
    texts = [f"gently put the {color} bowl on plate {i}" for i, color in enumerate(["red", "blue"] * 150)]
    assert parse(texts)[7] == parse([texts[7]])[0]
    assert parse([*texts[::-1], texts[0]])[-1] == parse(texts)[0]


def test_kept_parses_need_no_model(
    spacy_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(tmp_path / "kept.sqlite")
    texts = ["put the bowl on the stove", "Open the drawer. Now.", "", "(" * 300]
    said: list[tuple[str, int, int]] = []
    made = parse(
        texts, kept=kept, progress=lambda stage, done, total, note="": said.append((stage, done, total))
    )
    assert said == [("parse", 4, 4)]
    monkeypatch.setattr(parsing, "_model", lambda path: pytest.fail("the model was asked for"))
    assert parse([text.upper() for text in texts], kept=kept) == made


def test_a_parse_by_another_model_is_not_taken(
    spacy_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(tmp_path / "kept.sqlite")
    parse(["put the bowl"], kept=kept)
    monkeypatch.setattr(parsing, "MAKER", "another")
    assert parsing._recalled(kept, ["put the bowl"]) == {}


def test_neither_torch_nor_sentence_transformers_is_imported(spacy_model: Path, minilm: Path) -> None:
    code = (
        "import importlib.util, sys; before = importlib.util.find_spec('torch') is None;"
        "from heedful.language.parse import parse; from heedful.language import encode;"
        "parse(['put the bowl']); encode(['bowl']);"
        "print(sorted({'torch', 'sentence_transformers', 'transformers', 'tensorflow'} & set(sys.modules)));"
        "print(before == (importlib.util.find_spec('torch') is None))"  # later code may still import it
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert found.stdout == "[]\nTrue\n"


def test_another_spacy_is_refused(spacy_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "version", lambda package: "3.7.5")
    with pytest.raises(UserError, match=r"spaCy 3\.7\.5 is installed.*pip install 'spacy==3\.8\.\*'"):
        parsing._model.__wrapped__(None)


def test_without_spacy_the_extra_is_named(spacy_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(UserError, match=r"pip install 'heedful\[paraphrase\]'"):
        parsing._model.__wrapped__(None)


def test_one_text_is_no_list_of_texts() -> None:
    with pytest.raises(TypeError, match="write parse"):
        parse("put the bowl")
