"""Scenes: training scenes with distractors from the whole grid, and scenes to be asked about.

Only the grid's object factors tell the objects of a scene apart; ``objects`` says what
they share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from heedful.spec.errors import UserError
from heedful.spec.plan import Configuration
from heedful.spec.scene import SceneSpec
from heedful.suites.grid.axes import Axes
from heedful.suites.objects import MAX_DISTRACTORS, make_object, shared_attributes
from heedful.suites.sizes import relation_holds

_DRAWS = 1000
_ONLY = "object"  # its name, where no factor of the grid tells objects apart

Shown = dict[str, str]
"""Object factor of the grid -> value that an object shows."""


def object_name(shown: Mapping[str, str]) -> str:
    """Return the name of the object that shows these values: ``red-cube``."""
    return "-".join(shown.values()) or _ONLY


def training_scene(
    axes: Axes, cell: Configuration, carriers: Mapping[str, str], rng: np.random.Generator
) -> SceneSpec:
    """Return the target of ``cell`` with 0 to 3 distractors.

    Distractors are drawn uniformly from all other combinations of the grid's object
    factors, no two alike; where the place is a factor, no two in one place. Their number
    is uniform, then redrawn with them until the target's size word holds.

    Args:
        axes: The grid.
        cell: The configuration that is demonstrated.
        carriers: What its instruction names besides.
        rng: Draws what is not said.

    Raises:
        UserError: Nothing in the grid makes the size word true.
    """
    shared = shared_attributes(axes.vocabulary, axes.names, carriers, rng)
    target = axes.shown(cell)
    most = min(MAX_DISTRACTORS, _room(axes) - 1)
    size = axes.showing("size")
    for _ in range(_DRAWS):
        objects = [target]
        for _ in range(int(rng.integers(0, most + 1))):
            objects.append(_other(axes, objects, rng))
        if size is None or relation_holds(target[size], [o[size] for o in objects[1:]]):
            return _scene(axes, objects, shared)
    raise UserError(f"Grid {axes.name}: no scene makes the size word of {'+'.join(cell)} true.")


def asked_scene(
    axes: Axes, cell: Configuration, carriers: Mapping[str, str], rng: np.random.Generator
) -> SceneSpec:
    """Return the target of ``cell`` with one confuser for every object factor of the grid.

    A confuser shares all values with the target except that factor's, so a policy that does
    not read the factor is at a coin toss, and only one that reads all of them succeeds.

    Two exceptions the world asks for. A size word is said among the objects that share the
    other values (``the smallest red cube`` is the smallest of the red ones): the size's
    confuser makes it true, and of the others none is smaller. And a place holds one object:
    where the place is a factor every confuser stands elsewhere than the target, so that the
    place alone would do; the place's own confuser still needs it to be read.

    Args:
        axes: The grid.
        cell: The configuration that is asked for.
        carriers: What its instruction names besides.
        rng: Draws the values of the confusers and what is not said.

    Raises:
        UserError: Nothing in the grid makes the size word true, or there are too few places.
    """
    shared = shared_attributes(axes.vocabulary, axes.names, carriers, rng)
    target, place = axes.shown(cell), axes.showing("region")
    objects = [target]
    for factor in axes.object_factors:
        values = [v for v in _values(axes, factor) if v != target[factor]]
        if not values:
            continue  # a factor of one value confuses nobody
        if factor == axes.showing("size"):
            values = [v for v in values if relation_holds(target[factor], [v])]
            if not values:
                raise UserError(f"Grid {axes.name}: no other size makes {target[factor]!r} true.")
        confuser = {**target, factor: str(rng.choice(values))}
        if place is not None:
            free = [p for p in _values(axes, place) if p not in {o[place] for o in objects}]
            if not free:
                raise UserError(
                    f"Grid {axes.name}: a scene needs a {place} of its own for the target and for a "
                    f"confuser of each object factor; there are only {len(_values(axes, place))}."
                )
            confuser[place] = str(rng.choice(free))
        objects.append(confuser)
    return _scene(axes, objects, shared)


def _values(axes: Axes, factor: str) -> tuple[str, ...]:
    return axes.vocabulary.grammar.factor(factor).values


def _room(axes: Axes) -> int:
    """Return how many objects a scene of the grid can hold, no two alike and no two in one place."""
    place = axes.showing("region")
    if place is not None:
        return len(_values(axes, place))
    return int(np.prod([len(_values(axes, f)) for f in axes.object_factors], dtype=np.int64))


def _other(axes: Axes, objects: Sequence[Shown], rng: np.random.Generator) -> Shown:
    """Return a combination drawn uniformly from those that may stand beside ``objects``."""
    place = axes.showing("region")
    while True:
        drawn = {f: str(rng.choice(_values(axes, f))) for f in axes.object_factors}
        if drawn not in objects and (place is None or drawn[place] not in {o[place] for o in objects}):
            return drawn


def _scene(axes: Axes, objects: Sequence[Shown], shared: Mapping[str, str]) -> SceneSpec:
    return SceneSpec(tuple(make_object(axes.vocabulary, object_name(o), o, shared) for o in objects))
