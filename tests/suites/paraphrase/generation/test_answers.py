import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.suites.paraphrase.generation.answers import Malformed, parse_candidates, parse_verdicts

CHECKS = ("same", "format")
TEXTS = ["raise the cup", 'say "hi" to it', "提起杯子"]


def verdict(number: object, **changes: object) -> dict[str, object]:
    return {"id": number, "same": True, "format": True, **changes}


@pytest.mark.parametrize(
    "wrapped",
    [
        "{}",
        "\n {} \n",
        "```json\n{}\n```",
        "```\n{}```",
        "Here you are:\n```json\n{}\n```\nEnjoy!",
        "<think>a [list]? yes</think>\n{}",
        "<think>\n```\nno\n```\n</think>```json\n{}\n```",
    ],
)
def test_a_list_is_found_in_fences_and_after_thoughts(wrapped: str) -> None:
    assert parse_candidates(wrapped.replace("{}", json.dumps(TEXTS, ensure_ascii=False))) == TEXTS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "I am sorry, but I cannot do that.",
        "[]",
        '{"a": ["raise the cup"]}',
        '"raise the cup"',
        "null",
        "7",
        '["raise the cup", 1]',
        '["raise the cup", null]',
        '[["raise the cup"]]',
        '["raise the cup"',
        '["raise the cup",]',
        "['raise the cup']",
        'Sure: ["raise the cup"]',
        '```\n["a"]\n```\n```\n["b"]\n```',
        "[" * 100_000,
        "1. raise the cup\n2. hoist the cup",
    ],
)
def test_anything_but_a_list_of_strings_is_malformed(text: str) -> None:
    with pytest.raises(Malformed):
        parse_candidates(text)


def test_verdicts_come_back_in_the_order_asked_whatever_the_order_answered() -> None:
    answer = json.dumps([verdict(2, same=False, note="extra"), verdict(1)])
    assert parse_verdicts(answer, 2, CHECKS) == [
        {"same": True, "format": True},
        {"same": False, "format": True},
    ]


@pytest.mark.parametrize(
    "entries",
    [
        [verdict(1)],
        [verdict(1), verdict(2), verdict(3)],
        [verdict(1), verdict(1)],
        [verdict(0), verdict(1)],
        [verdict("1"), verdict(2)],
        [verdict(True), verdict(2)],
        [verdict(1.0), verdict(2)],
        [verdict(1, same="true"), verdict(2)],
        [verdict(1, same=1), verdict(2)],
        [verdict(1, same=None), verdict(2)],
        [{"id": 1, "same": True}, verdict(2)],
        ["true", "true"],
        [True, True],
    ],
)
def test_verdicts_that_do_not_fit_the_candidates_are_all_malformed(entries: list[object]) -> None:
    with pytest.raises(Malformed):
        parse_verdicts(json.dumps(entries), 2, CHECKS)


@given(st.text())
def test_no_text_does_anything_but_parse_or_be_malformed(text: str) -> None:
    for read in (parse_candidates, lambda answer: parse_verdicts(answer, 2, CHECKS)):
        try:
            assert read(text)
        except Malformed:
            pass
