"""Where the objects of a scene stand: drawn at random, apart, in their regions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heedful.spec.errors import UserError, unknown
from heedful.spec.scene import SceneSpec
from heedful.worlds.tabletop import catalog

CLEARANCE_M = 0.015
"""Between the discs that two objects can cover as they turn."""

FINGER_ROOM_M = 0.058
"""From an object's centre to its neighbour's disc: the open fingers reach 49 mm out, and
closing on an object off its centre by a few mm must not touch the neighbour."""

_TRIES_AN_OBJECT = 60
_TRIES_A_SCENE = 200


@dataclass(frozen=True)
class Place:
    """Where an object stands: x, y in m and yaw in rad."""

    x_m: float
    y_m: float
    yaw_rad: float


def check_scene(scene: SceneSpec) -> None:
    """Raise ``UserError`` for anything in ``scene`` that this world does not know."""
    names = [o.name for o in scene.objects]
    repeated = sorted({n for n in names if names.count(n) > 1})
    if repeated:
        raise UserError(f"The scene names {repeated} more than once.")
    if scene.robots != 1:
        raise UserError(f"The tabletop world has one robot arm; the scene asks for {scene.robots}.")
    for thing in scene.objects:
        catalog.shape_of(thing.shape)
        catalog.scale_of(thing.size)
        if thing.color not in catalog.COLORS:
            raise unknown("color", thing.color, catalog.COLORS)
        if thing.region is not None and thing.region not in catalog.REGIONS:
            raise unknown("region", thing.region, catalog.REGIONS)
    if scene.swap:
        if len(scene.swap) != 2 or scene.swap[0] == scene.swap[1]:
            raise UserError(f"A swap names two objects, found {list(scene.swap)}.")
        for name in scene.swap:
            if name not in names:
                raise unknown("object to swap", name, names)


def sample_places(scene: SceneSpec, rng: np.random.Generator) -> tuple[Place, ...]:
    """Return one place per object of ``scene``, drawn in order by rejection.

    The distance kept is that of the scene's widest objects for every pair, so that the
    places drawn are the same whether or not two of them are then swapped.

    Raises:
        UserError: The objects do not fit.
    """
    radii = [catalog.footprint_radius_m(o.shape, catalog.scale_of(o.size)) for o in scene.objects]
    widest = sorted(radii)[-2:]
    apart_m = max(sum(widest) + CLEARANCE_M, max(widest, default=0.0) + FINGER_ROOM_M)
    for _ in range(_TRIES_A_SCENE):
        places = _one_try(scene, rng, apart_m)
        if places is not None:
            return _swapped(scene, places)
    boxes = sorted({o.region or "anywhere" for o in scene.objects})
    raise UserError(
        f"Cannot place {len(scene.objects)} objects {apart_m * 100:.0f} cm apart in {boxes}: "
        "use fewer or smaller objects, or other regions."
    )


def _one_try(scene: SceneSpec, rng: np.random.Generator, apart_m: float) -> list[Place] | None:
    places: list[Place] = []
    for thing in scene.objects:
        x_lo, x_hi, y_lo, y_hi = catalog.AREA if thing.region is None else catalog.REGIONS[thing.region]
        for _ in range(_TRIES_AN_OBJECT):
            x, y = float(rng.uniform(x_lo, x_hi)), float(rng.uniform(y_lo, y_hi))
            if all(np.hypot(x - p.x_m, y - p.y_m) >= apart_m for p in places):
                places.append(Place(x, y, float(rng.uniform(-1, 1)) * scene.yaw_range_rad))
                break
        else:
            return None
    return places


def _swapped(scene: SceneSpec, places: list[Place]) -> tuple[Place, ...]:
    if scene.swap:
        i, j = ([o.name for o in scene.objects].index(name) for name in scene.swap)
        places[i], places[j] = places[j], places[i]
    return tuple(places)
