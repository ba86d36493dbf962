import pytest

from heedful.spec.errors import UserError
from heedful.spec.vocabulary import load_vocabulary
from heedful.suites.paraphrase.lexicon import load_lexicon
from heedful.suites.paraphrase.request import Request, read_request


def request(text: str) -> Request:
    return read_request(text, load_lexicon(), load_vocabulary())


@pytest.mark.parametrize(
    ("text", "verb", "rest", "one_verb", "object_only"),
    [
        ("lift the red cube", "lift", "the red cube", True, True),
        ("slide the star on the left of the table", "slide", "the star on the left of the table", True, True),
        ("put the bowl on the stove", "put", "the bowl on the stove", True, False),
        ("Turn on the stove.", "turn on", "the stove", True, True),
        ("open the middle drawer of the cabinet", "open", "the middle drawer of the cabinet", True, True),
        (
            "open the top drawer and put the bowl inside",
            "open",
            "the top drawer and put the bowl inside",
            False,
            False,
        ),
        ("please push the plate away", "push", "the plate away", True, False),
        ("fold the towel", "fold", "the towel", True, False),
    ],
)
def test_a_request_is_taken_apart(text: str, verb: str, rest: str, one_verb: bool, object_only: bool) -> None:
    found = request(text)
    assert (found.verb, found.rest, found.one_verb, found.object_only) == (verb, rest, one_verb, object_only)


def test_in_the_grammar_every_other_value_is_foreign() -> None:
    found = request("lift the red cube")
    assert {"grasp", "blue", "sphere", "left", "smaller"} <= found.foreign
    assert not {"lift", "red", "cube"} & found.foreign
    assert request("lift the red bowl").foreign == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "stop",
        "the bowl is on the stove",
        "could you lift the cube?",
        "do not push the cube",
        "lift the cube. Then push it.",
        "never mind the cube",
        "first, lift the cube",
    ],
)
def test_what_is_no_plain_request_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="not one plain request"):
        request(text)
