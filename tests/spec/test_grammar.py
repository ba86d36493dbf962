import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.spec.errors import UserError
from heedful.spec.grammar import Factor, Grammar

GRAMMAR = Grammar(
    name="tabletop",
    template="{verb} the[ {size}][ {color}] {object}[ on the {spatial} of the table]",
    factors=(
        Factor("verb", ("grasp", "lift"), "action"),
        Factor("size", ("small", "large")),
        Factor("color", ("red", "blue")),
        Factor("object", ("cube", "cup")),
        Factor("spatial", ("left", "right")),
    ),
)


def test_a_part_in_brackets_is_worded_only_when_its_factor_is_named() -> None:
    assert GRAMMAR.instruction({"verb": "lift", "object": "cup"}).text == "lift the cup"
    full = {"verb": "lift", "size": "small", "color": "red", "object": "cup", "spatial": "left"}
    assert GRAMMAR.instruction(full).text == "lift the small red cup on the left of the table"


def test_a_misspelt_value_gets_the_nearest_valid_one() -> None:
    with pytest.raises(UserError, match="Did you mean 'red'"):
        GRAMMAR.instruction({"verb": "lift", "object": "cup", "color": "rde"})


def test_a_slot_that_must_be_filled_is_named() -> None:
    with pytest.raises(UserError, match="object is missing"):
        GRAMMAR.instruction({"verb": "lift"})


def test_a_duplicate_value_is_refused() -> None:
    with pytest.raises(UserError, match="more than once"):
        Factor("color", ("red", "red"))


def test_a_template_whose_slots_are_not_the_factors_is_refused() -> None:
    with pytest.raises(UserError, match="differ"):
        Grammar("g", "{verb} it", (Factor("color", ("red",)),))


@given(st.dictionaries(st.sampled_from(["size", "color", "spatial"]), st.integers(0, 1)))
def test_the_text_names_exactly_the_given_values(chosen: dict[str, int]) -> None:
    values = {name: GRAMMAR.factor(name).values[i] for name, i in chosen.items()}
    text = GRAMMAR.instruction({"verb": "grasp", "object": "cube", **values}).text
    words = text.split()
    for factor in GRAMMAR.factors[1:3]:
        for value in factor.values:
            assert (value in words) == (values.get(factor.name) == value)
    assert "  " not in text and "[" not in text
