"""The objects of a scene: what all of them share, and what tells them apart.

Every object of a scene shares the carriers; whatever the instruction never names (the
color, where there is none) is drawn once a scene and shared by all of its objects, so it
cannot tell them apart.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from heedful.spec.scene import ObjectSpec
from heedful.spec.vocabulary import Vocabulary

MAX_DISTRACTORS = 3
_STANDARD = {"shape": "cube", "color": "blue"}  # every object has them; for grammars without such a factor


def shared_attributes(
    vocabulary: Vocabulary, varied: Collection[str], carriers: Mapping[str, str], rng: np.random.Generator
) -> dict[str, str]:
    """Return the attributes (attribute -> value) that all objects of a scene have in common.

    Args:
        vocabulary: The grammar, and what its object factors are in a scene.
        varied: Factors in which objects may differ.
        carriers: Factors named besides, with their values.
        rng: Draws what is never named.
    """
    shared = {vocabulary.attributes[f]: v for f, v in carriers.items() if f in vocabulary.attributes}
    shared |= {a: v for a, v in _STANDARD.items() if a not in vocabulary.attributes.values()}
    for factor, attribute in vocabulary.attributes.items():
        if attribute in _STANDARD and attribute not in shared and factor not in varied:
            shared[attribute] = str(rng.choice(vocabulary.grammar.factor(factor).values))
    return shared


def make_object(
    vocabulary: Vocabulary, name: str, values: Mapping[str, str], shared: Mapping[str, str]
) -> ObjectSpec:
    """Return the object called ``name`` that shows ``values`` (object factor -> value) and ``shared``."""
    own = {vocabulary.attributes[factor]: value for factor, value in values.items()}
    found: dict[str, str | None] = {"size": None, "region": None, **shared, **own}
    return ObjectSpec(
        name=name,
        shape=str(found["shape"]),
        color=str(found["color"]),
        size=found["size"],
        region=found["region"],
    )
