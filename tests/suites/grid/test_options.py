from typing import Any

import pytest

from heedful.spec.errors import UserError
from heedful.suites.grid import make


def test_factors_stand_in_the_vocabularys_order_however_they_are_given() -> None:
    for given in ("object,color", "object color", ["object", "color"], ("object", "color")):
        assert make().options({"factors": given})["factors"] == ["color", "object"]
    assert make().options({"factors": "spatial,verb,size"})["factors"] == ["verb", "size", "spatial"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"factors": "colour,object"}, "Did you mean 'color'"),
        ({"factors": "color,color"}, "color is named more than once"),
        ({"factors": ""}, "name factors, such as color,object"),
        ({"factors": []}, "name factors, such as color,object"),
        ({"factors": 3}, "is 3; name factors"),
        ({"factors": [["color"]]}, "name factors"),
        ({"rolouts": 4}, "Did you mean 'rollouts'"),
        ({"rollouts": -1}, "rollouts is -1; it cannot be negative"),
        ({"rollouts": 1.5}, "rollouts must be a whole number, not 1.5"),
        ({"empty": True}, "empty must be a whole number, not True"),
        ({"demos": 1_000_000}, "cannot be more than 100000"),
        ({"vocabulary": "tabeltop"}, "Did you mean 'tabletop'"),
    ],
)
def test_a_mistake_is_one_line(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        make().options(given)
    assert "\n" not in str(caught.value)
