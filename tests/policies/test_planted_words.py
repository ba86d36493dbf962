"""Planted policies that read word by word: known answers for paraphrases."""

import numpy as np
import pytest

from heedful.policies.planted import choose, make, spotted
from heedful.spec.errors import UserError
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.spec.seams import Start
from heedful.spec.vocabulary import load_vocabulary

ORDER = "color>object>spatial>verb>size"
TABLETOP = load_vocabulary()
SCENE = SceneSpec(tuple(ObjectSpec(f"{c}-{s}", s, c) for c, s in (("red", "cube"), ("blue", "cup"))))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("lift the red cube", {"verb": "lift", "color": "red", "object": "cube"}),
        ("Could you lift the red-colored block?", {"verb": "lift", "color": "red"}),
        ("Nobody has lifted the scarlet cube yet", {"object": "cube"}),
        ("lift or push the cube", {"object": "cube"}),
        ("", {}),
    ],
)
def test_only_values_that_stand_in_the_text_are_read(text: str, values: dict[str, str]) -> None:
    assert spotted(TABLETOP, text).values == values


def test_what_it_reads_it_does_and_the_verb_it_misses_it_replaces() -> None:
    def chosen(text: str) -> tuple[str, str]:
        found = choose(
            TABLETOP, ORDER.split(">"), 0.0, spotted(TABLETOP, text), SCENE, np.random.default_rng(0)
        )
        return found.object, found.verb

    assert chosen("Could you lift the blue mug?") == ("blue-cup", "lift")
    assert chosen("hoist the blue cup") == ("blue-cup", "grasp")


def test_other_words_crash_a_planted_policy_unless_it_reads_word_by_word() -> None:
    start = Start("hoist the blue cup", scene=SCENE)
    with pytest.raises(UserError, match="cannot read"):
        make(ORDER).reset(start)
    assert make(f"{ORDER}+words").reset(start) == "hoist the blue cup"
    assert make(f"{ORDER}@0.1+words").noise == 0.1
