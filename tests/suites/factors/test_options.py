import pytest

from heedful.spec.errors import UserError
from heedful.suites.factors import make


def test_defaults_are_those_of_the_published_experiment() -> None:
    options = make().options({})
    assert options == {
        "pairs": ["color,object"],
        "rollouts": 400,
        "in_distribution": 120,
        "empty": 60,
        "demos": 300,
        "vocabulary": "tabletop",
    }


def test_pairs_are_named_in_published_order_however_they_are_typed() -> None:
    assert make().options({"pairs": ["object,color", "color-verb"]})["pairs"] == [
        "color,object",
        "verb,color",
    ]
    assert len(make().options({"pairs": "all"})["pairs"]) == 10


def test_options_of_options_are_themselves() -> None:
    options = make().options({"pairs": "all", "rollouts": 8})
    assert make().options(options) == options


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rolouts": 4}, "Did you mean 'rollouts'?"),
        ({"pairs": "colour,object"}, "Did you mean 'color'?"),
        ({"pairs": "color,color"}, "Unknown pair 'color,color'"),
        ({"pairs": []}, "empty"),
        ({"pairs": None}, "empty"),
        ({"pairs": 5}, "is 5; name a pair"),
        ({"pairs": ["all", "color,object"]}, "names 'all' and 'color,object'"),
        ({"rollouts": True}, "rollouts must be a whole number, not True"),
        ({"rollouts": None}, "rollouts must be a whole number, not None"),
        ({"rollouts": 100_001}, "cannot be more than 100000 a pair"),
        ({"rollouts": -1}, "cannot be negative"),
        ({"rollouts": "many"}, "rollouts"),
        ({"vocabulary": "tabeltop"}, "Did you mean 'tabletop'?"),
    ],
)
def test_mistakes_get_one_line(given: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match="(?s).*") as caught:
        make().options(given)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
