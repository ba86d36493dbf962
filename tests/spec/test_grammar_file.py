from pathlib import Path

import pytest

from heedful.spec.errors import UserError
from heedful.spec.grammar_file import load_grammar, shipped_grammars

GOOD = """\
name: drawer
template: "open the {side} drawer[ {speed}]"
factors:
  - {name: side, values: [left, right]}
  - {name: speed, values: [slowly, quickly]}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "factors"),
    [("bun", ("color", "spatial")), ("pizza", ("spatial", "object")), ("cup", ("verb", "color"))],
)
def test_the_published_real_robot_grids_are_four_by_four(name: str, factors: tuple[str, ...]) -> None:
    loaded = load_grammar(name)
    assert tuple(factor.name for factor in loaded.grammar.factors) == factors
    assert [len(factor.values) for factor in loaded.grammar.factors] == [4, 4]
    text = loaded.grammar.instruction({f.name: f.values[0] for f in loaded.grammar.factors}).text
    assert text == " ".join(text.split())


def test_a_vocabulary_is_a_grammar_with_training_sets() -> None:
    loaded = load_grammar("tabletop")
    assert len(loaded.bindings) == 10
    assert set(shipped_grammars()) == {"bun", "cup", "pizza", "tabletop"}


def test_a_file_wins_over_a_shipped_name_and_a_missing_one_falls_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_grammar("bun.yaml").source == "bun"
    Path("bun.yaml").write_text(GOOD)
    assert load_grammar("bun.yaml").grammar.name == "drawer"
    assert load_grammar("bun").grammar.name == "bun"
    with pytest.raises(UserError, match=r"no grammar file elsewhere/bun.yaml.*bun, cup, pizza, tabletop"):
        load_grammar("elsewhere/bun.yaml")


def test_no_action_is_needed_and_the_order_is_kept(tmp_path: Path) -> None:
    loaded = load_grammar(write(tmp_path, GOOD + "order: [speed, side]\n"))
    assert loaded.order == ("speed", "side")
    assert loaded.bindings == ()
    assert loaded.grammar.instruction({"side": "left"}).text == "open the left drawer"


def test_a_vocabulary_file_of_the_users_own_will_do(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "src/heedful/spec/vocabularies/tabletop.yaml").read_text()
    assert len(load_grammar(write(tmp_path, text)).bindings) == 10


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOOD.replace("[left, right]", "[left, left]"), r"side' lists \['left'\] more than once"),
        (GOOD.replace("[left, right]", "[]"), "has no values"),
        (GOOD.replace("{side} drawer", "{sides} drawer"), "slots.*differ"),
        (GOOD.replace("{side} drawer", "drawer"), "slots.*differ"),
        (GOOD + "ordre: [side]\n", "ordre: is not known here"),
        (GOOD.replace("values: [left", "valeus: [left"), "valeus: is not known here|values: is missing"),
        (GOOD.replace("[left, right]", "[left, yes]"), "must be a text, not True"),
        (GOOD.replace("[left, right]", "[left, '']"), "'' is empty"),
        (GOOD.replace("[left, right]", "[left, 'right ']"), "'right ' is empty or has blanks"),
        (GOOD + "order: [side, sped]\n", "Did you mean 'speed'"),
        (GOOD + "order: [side, side]\n", "order names a factor more than once"),
        (GOOD.replace("name: drawer\n", ""), "name: is missing"),
        (GOOD + "  nonsense: [", "cannot be read"),
        ("- a\n- b\n", "mine.yaml"),
        ("", "mine.yaml"),
    ],
)
def test_what_does_not_hold_together_is_one_line_that_names_the_file(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(UserError, match=says) as error:
        load_grammar(write(tmp_path, text))
    assert "mine.yaml" in str(error.value)
    assert "\n" not in str(error.value)


def test_unknown_names_and_binary_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Did you mean 'pizza'"):
        load_grammar("piza")
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="cannot be read"):
        load_grammar(path)
