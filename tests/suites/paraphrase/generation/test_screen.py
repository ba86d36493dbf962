import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.suites.paraphrase.generation.screen import flaw, said, tidy, wording


@pytest.mark.parametrize(
    "text",
    [
        "Lift the cup.",
        "could you please lift the cup?",
        "find the cup. Then lift it",
        "soulève la tasse",
        "拿起红色的杯子",
        "lift cup 2",
        "the cup's place is up",
    ],
)
def test_a_sentence_has_no_flaw(text: str) -> None:
    assert flaw(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...",
        "123",
        "a\nb",
        "a\u2028b",
        "lift\u202e the cup",
        "lift \u200b the cup",
        "lift \ud800 cup",
        "- lift the cup",
        "1. lift the cup",
        "2) lift the cup",
        "* lift the cup",
        "# lift",
        '"lift the cup"',
        '{"paraphrase": "lift"}',
        "[lift]",
        "<b>lift</b>",
        "`lift`",
        "lift ```",
        "lift " * 100,
    ],
)
def test_what_is_no_instruction_is_told_without_asking(text: str) -> None:
    assert flaw(text)


@given(st.text())
def test_tidying_and_wording_are_done_once(text: str) -> None:
    assert tidy(tidy(text)) == tidy(text)
    assert wording(tidy(text)) == wording(text)
    assert flaw(tidy(text)) is None or flaw(tidy(text))


def test_wordings_differ_in_words_only() -> None:
    assert wording("LIFT the  cup?!") == wording("lift the cup")
    assert wording("lift the cup") != wording("lift the cups")
    assert said("Lift the blue-green CUP.") == {"lift", "the", "blue", "green", "cup"}
