from pathlib import Path

import pytest

from heedful.spec.errors import UserError
from heedful.spec.vocabulary import load_vocabulary

PIZZA = """
name: pizza
template: "{verb} the {topping} pizza[ at the {place}]"
factors:
  - {name: verb, kind: action, values: [grasp, lift]}
  - {name: topping, attribute: color, values: [ham, olive]}
  - {name: place, attribute: region, values: [left, right]}
pairs:
  - factors: [topping, place]
    bound: [[ham, left], [olive, right]]
    carriers: {verb: [lift]}
"""


def test_shipped_vocabulary_is_the_published_table() -> None:
    vocabulary = load_vocabulary()
    published = "verb,color verb,object verb,size verb,spatial color,object color,size color,spatial"
    published += " object,size object,spatial size,spatial"
    assert [b.name for b in vocabulary.bindings] == published.split()
    count = {b.name: len(b.bound) * len(b.carrier_choices()) for b in vocabulary.bindings}
    tens = {"color,spatial", "object,spatial", "verb,spatial", "size,spatial"}
    assert count == {name: 10 if name in tens else 12 for name in count}
    sizes = [len(f.values) for f in vocabulary.grammar.factors]
    assert sorted(sizes) == [5, 6, 6, 6, 6]
    assert vocabulary.action == "verb"


def test_binding_is_found_in_either_order_and_knows_partners() -> None:
    binding = load_vocabulary().binding("object, color")
    assert binding.factors == ("color", "object")
    assert binding.combination("object", "cup") == ("blue", "cup")
    assert load_vocabulary().binding("color,spatial").combination("color", "black") is None


def test_parse_reads_back_everything_the_grammar_words() -> None:
    vocabulary = load_vocabulary()
    for binding in vocabulary.bindings:
        for carriers in binding.carrier_choices():
            for first, second in ((a[0], b[1]) for a in binding.bound for b in binding.bound):
                made = vocabulary.grammar.instruction(binding.values(first, second, carriers))
                assert vocabulary.parse(made.text) == made


@pytest.mark.parametrize("text", ["", "lift", "lift the mauve cube", "lift the red cube now"])
def test_parse_refuses_other_words(text: str) -> None:
    with pytest.raises(UserError, match="cannot read"):
        load_vocabulary().parse(text)


def test_a_users_own_file(tmp_path: Path) -> None:
    path = tmp_path / "pizza.yaml"
    path.write_text(PIZZA)
    vocabulary = load_vocabulary(path)
    assert vocabulary.parse("lift the ham pizza at the right").values["place"] == "right"
    assert vocabulary.attributes == {"topping": "color", "place": "region"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[ham, left]", "[hams, left]", "Did you mean 'ham'?"),
        ("[olive, right]", "[ham, right]", "bound more than once"),
        ("carriers: {verb: [lift]}", "carriers: {}", "must say what to do"),
        ("carriers: {verb: [lift]}", "carriers: {place: [left]}", "cannot be bound and carry"),
        ("attribute: color", "attribute: colour", "Did you mean 'color'?"),
        ("kind: action, ", "", "one factor of kind action"),
        ("factors: [topping, place]", "factors: [topping, verb]", "the verb first"),
        ("bound:", "boundd:", "pairs.0.bound: is missing"),
        ("bound:", "seeds: 3\n    bound:", "pairs.0.seeds"),
        ("name: pizza", "name: [", "Cannot read"),
    ],
)
def test_mistakes_in_a_file_get_one_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "pizza.yaml"
    path.write_text(PIZZA.replace(old, new))
    with pytest.raises(UserError) as caught:
        load_vocabulary(path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_or_name() -> None:
    with pytest.raises(UserError, match="Cannot read"):
        load_vocabulary("nowhere.yaml")
    with pytest.raises(UserError, match="tabletop"):
        load_vocabulary("tabeltop")
