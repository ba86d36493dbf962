"""Scenes: training scenes in which nothing unbinds a pair, and conflict scenes.

A pair's factors are the only ones in which the objects of its scenes differ; ``objects``
says what they share.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from heedful.spec.errors import UserError
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.spec.vocabulary import Binding, Vocabulary
from heedful.suites.objects import MAX_DISTRACTORS, make_object, shared_attributes
from heedful.suites.sizes import relation_holds

_DRAWS = 1000

Combination = tuple[str, str]


def object_name(binding: Binding, combination: Combination) -> str:
    """Return the name of the object of ``combination``: ``red-cube``; ``red`` for verb and color."""
    return "-".join(combination[binding.factors.index(f)] for f in binding.object_factors)


def training_scene(
    vocabulary: Vocabulary,
    binding: Binding,
    target: Combination,
    carriers: Mapping[str, str],
    rng: np.random.Generator,
    fewest: int = 0,
) -> SceneSpec:
    """Return the object of ``target`` with ``fewest`` to 3 distractors from the other bound combinations.

    The number of distractors is uniform, then redrawn with the distractors until the
    target's size word holds.
    """
    shared = shared_attributes(vocabulary, binding.factors, carriers, rng)
    others = [c for c in binding.bound if c != target]
    for _ in range(_DRAWS):
        count = min(int(rng.integers(fewest, MAX_DISTRACTORS + 1)), len(others))
        chosen = [target, *(others[i] for i in rng.permutation(len(others))[:count])]
        if sizes_hold(vocabulary, binding, chosen, named=1):
            return SceneSpec(tuple(_spec(vocabulary, binding, c, shared) for c in chosen))
    raise UserError(f"Pair {binding.name}: no scene makes the size word of {target} true.")


def conflict_scene(
    vocabulary: Vocabulary,
    binding: Binding,
    combinations: tuple[Combination, Combination],
    carriers: Mapping[str, str],
    rng: np.random.Generator,
) -> SceneSpec:
    """Return the scene of two objects that a conflict is about.

    Rule for a third object: only where the size word of one of the two does not hold
    between them (``smaller`` beside ``smallest`` needs something greater, ``larger``
    beside ``largest`` something smaller). It is then drawn from the other bound
    combinations that make both words true; neither instruction of the scene names it.
    """
    shared = shared_attributes(vocabulary, binding.factors, carriers, rng)
    chosen = list(combinations)
    if not sizes_hold(vocabulary, binding, chosen, named=2):
        thirds = [
            c
            for c in binding.bound
            if c not in combinations and sizes_hold(vocabulary, binding, [*chosen, c], named=2)
        ]
        if not thirds:
            raise UserError(f"Pair {binding.name}: no third object makes the sizes of {combinations} true.")
        chosen.append(thirds[int(rng.integers(len(thirds)))])
    return SceneSpec(tuple(_spec(vocabulary, binding, c, shared) for c in chosen))


def sizes_hold(vocabulary: Vocabulary, binding: Binding, combinations: list[Combination], named: int) -> bool:
    """Return whether the size words of the first ``named`` of ``combinations`` are true in their scene."""
    sized = [i for i, f in enumerate(binding.factors) if vocabulary.attributes.get(f) == "size"]
    if not sized:
        return True
    sizes = [c[sized[0]] for c in combinations]
    return all(relation_holds(sizes[i], sizes[:i] + sizes[i + 1 :]) for i in range(named))


def _spec(
    vocabulary: Vocabulary, binding: Binding, combination: Combination, shared: Mapping[str, str]
) -> ObjectSpec:
    """Return the object of ``combination``."""
    values = dict(zip(binding.factors, combination, strict=True))
    own = {factor: values[factor] for factor in binding.object_factors}
    return make_object(vocabulary, object_name(binding, combination), own, shared)
