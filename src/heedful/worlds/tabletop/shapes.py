"""The bodies of the six shapes, built into a MuJoCo model.

What is seen and what collides are separate where that helps: the cup is a solid prism to
the simulator and an open shell to the eye, the pyramid's tip is only seen, the car rests
on its hull while its wheels are only seen. Geoms are named ``<object>:color:<k>`` (takes
the object's color), ``<object>:mark:<k>`` (fixed color) and ``<object>:solid:<k>``
(collides, not drawn, group 3).
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from heedful.worlds.tabletop.catalog import Rgba, footprint_radius_m, rest_height_m, shape_of

__all__ = ["add_object", "colored_geoms", "footprint_radius_m", "rest_height_m"]

MASS_KG = 0.08
"""Mass of every shape at the standard size; it grows with the cube of the scale."""

SLIDING_FRICTION = 0.5
"""Object on table, below 1 so that a pushed sphere cannot jam between finger and table;
the finger pads have a higher one and priority."""

ROLLING_FRICTION_M = 0.004
_WHITE: Rgba = (0.95, 0.95, 0.93, 1.0)
_DARK: Rgba = (0.16, 0.16, 0.18, 1.0)
_SOLID_GROUP = 3
_GEOM = mujoco.mjtGeom


def add_object(spec: mujoco.MjSpec, name: str, shape: str, scale: float, rgba: Rgba) -> mujoco.MjsBody:
    """Return a new free body of ``shape`` in ``spec``, its origin at the geometric centre.

    Args:
        spec: The model under construction.
        name: Name of the body; its free joint is ``<name>:free``.
        shape: A shape of the catalog.
        scale: Factor on all lengths.
        rgba: Color of the parts that carry the object's color.
    """
    shape_of(shape)
    body = spec.worldbody.add_body(name=name)
    body.add_freejoint(name=f"{name}:free")
    _BUILDERS[shape](_Builder(spec, body, name, scale, rgba))
    return body


def colored_geoms(body: mujoco.MjsBody) -> list[str]:
    """Return the names of the geoms whose rgba is the object's color."""
    return [geom.name for geom in body.geoms if f"{body.name}:color:" in geom.name]


class _Builder:
    """Adds the geoms of one object; lengths are given at the standard size."""

    def __init__(
        self, spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str, scale: float, rgba: Rgba
    ) -> None:
        self.spec, self.body, self.name, self.scale, self.rgba = spec, body, name, scale, rgba
        self.count = 0

    def add(
        self,
        kind: mujoco.mjtGeom,
        size: tuple[float, ...] = (),
        at: tuple[float, float, float] = (0.0, 0.0, 0.0),
        mass: float = 0.0,
        collides: bool = False,
        seen: Rgba | str | None = "color",
        quat: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0),
        rolls: bool = False,
        vertices: NDArray[np.float64] | None = None,
        faces: NDArray[np.int32] | None = None,
    ) -> None:
        """Add one geom; ``mass`` is its share of the object's mass, ``seen=None`` hides it."""
        role = "solid" if seen is None else "color" if seen == "color" else "mark"
        label = f"{self.name}:{role}:{self.count}"
        self.count += 1
        options: dict[str, Any] = {}
        if vertices is not None:
            mesh = self.spec.add_mesh(name=label)
            mesh.uservert = (vertices * self.scale).ravel()
            if faces is not None:
                mesh.userface = faces.ravel()
                mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
            options["meshname"] = label
        else:
            options["size"] = [*(s * self.scale for s in size), 0.0, 0.0][:3]
        self.body.add_geom(
            name=label,
            type=kind,
            pos=[p * self.scale for p in at],
            quat=list(quat),
            mass=mass * MASS_KG * self.scale**3,
            rgba=list(self.rgba if isinstance(seen, str) else seen or _DARK),
            group=_SOLID_GROUP if seen is None else 0,
            contype=int(collides),
            conaffinity=int(collides),
            condim=6 if rolls else 4,
            friction=[SLIDING_FRICTION, 0.01, ROLLING_FRICTION_M if rolls else 0.0001],
            **options,
        )


def _about_z(angle: float) -> tuple[float, ...]:
    return (float(np.cos(angle / 2)), 0.0, 0.0, float(np.sin(angle / 2)))


def _prism(outline: NDArray[np.float64], z_lo: float, z_hi: float) -> NDArray[np.float64]:
    return np.concatenate([np.c_[outline, np.full(len(outline), z)] for z in (z_lo, z_hi)])


def _ring(radius: float, sides: int) -> NDArray[np.float64]:
    """Return a regular polygon [sides, 2] of inradius ``radius`` with an edge across +y."""
    angle = np.pi / 2 + (np.arange(sides) + 0.5) * 2 * np.pi / sides
    corners: NDArray[np.float64] = radius / np.cos(np.pi / sides) * np.c_[np.cos(angle), np.sin(angle)]
    return corners


def _cube(b: _Builder) -> None:
    b.add(_GEOM.mjGEOM_BOX, (0.022, 0.022, 0.022), mass=1.0, collides=True)


def _sphere(b: _Builder) -> None:
    """A ball with a band over the top: without it a turn could not be seen."""
    b.add(_GEOM.mjGEOM_SPHERE, (0.026,), mass=1.0, collides=True, rolls=True)
    upright = (float(np.sqrt(0.5)), float(np.sqrt(0.5)), 0.0, 0.0)
    b.add(_GEOM.mjGEOM_CYLINDER, (0.0263, 0.0035), quat=upright, seen=_WHITE)


def _cup(b: _Builder) -> None:
    """An open shell with a handle to the eye, a twelve-sided prism to the simulator."""
    radius, half, wall, floor, sides = 0.024, 0.026, 0.004, -0.020, 12
    prism = _prism(_ring(radius, sides), -half, half)
    b.add(_GEOM.mjGEOM_MESH, mass=1.0, collides=True, seen=None, vertices=prism)
    outer, inner = _ring(radius, sides), _ring(radius - wall, sides)
    rings = [(outer, -half), (outer, half), (inner, half), (inner, floor)]
    vertices = np.concatenate([np.c_[ring, np.full(sides, z)] for ring, z in rings])
    k, following = np.arange(sides), (np.arange(sides) + 1) % sides
    faces = []
    for level in range(len(rings) - 1):
        low, high = level * sides, (level + 1) * sides
        faces += [
            np.c_[low + k, low + following, high + following],
            np.c_[low + k, high + following, high + k],
        ]
    shell = np.concatenate(faces).astype(np.int32)
    b.add(_GEOM.mjGEOM_MESH, vertices=vertices, faces=shell)
    b.add(_GEOM.mjGEOM_CYLINDER, (radius - wall, 0.001), at=(0.0, 0.0, floor), seen=_DARK)
    for x, z, length, turned in (
        (0.030, 0.012, 0.007, True),
        (0.0355, 0.0, 0.014, False),
        (0.030, -0.012, 0.007, True),
    ):
        size = (length, 0.003, 0.003) if turned else (0.003, 0.003, length)
        b.add(_GEOM.mjGEOM_BOX, size, at=(x, 0.0, z))


def _car(b: _Builder) -> None:
    """Hull, cabin and four wheels; the hull reaches down to the table for the simulator."""
    b.add(_GEOM.mjGEOM_BOX, (0.040, 0.0185, 0.014), at=(0.0, 0.0, -0.007), mass=0.8, collides=True, seen=None)
    b.add(_GEOM.mjGEOM_BOX, (0.040, 0.015, 0.010), at=(0.0, 0.0, -0.003))
    b.add(_GEOM.mjGEOM_BOX, (0.019, 0.014, 0.007), at=(-0.005, 0.0, 0.014), mass=0.2, collides=True)
    b.add(_GEOM.mjGEOM_BOX, (0.0193, 0.0143, 0.004), at=(-0.005, 0.0, 0.0125), seen=_DARK)
    sideways = (float(np.sqrt(0.5)), float(np.sqrt(0.5)), 0.0, 0.0)
    for x in (-0.025, 0.025):
        for y in (-0.0157, 0.0157):
            b.add(_GEOM.mjGEOM_CYLINDER, (0.0105, 0.0028), at=(x, y, -0.0105), quat=sideways, seen=_DARK)


def _pyramid(b: _Builder) -> None:
    """A square pyramid; the part above the frustum is seen but does not collide."""
    half, base, cut = 0.028, 0.028, 0.75
    corners = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)], dtype=np.float64)
    top = 2 * half * cut - half
    frustum = np.concatenate(
        [np.c_[base * corners, np.full(4, -half)], np.c_[(1 - cut) * base * corners, np.full(4, top)]]
    )
    b.add(_GEOM.mjGEOM_MESH, mass=1.0, collides=True, seen=None, vertices=frustum)
    whole = np.concatenate([np.c_[base * corners, np.full(4, -half)], [(0.0, 0.0, half)]])
    b.add(_GEOM.mjGEOM_MESH, vertices=whole)


def _star(b: _Builder) -> None:
    """Five spikes just off the table on a thin disc, which keeps the contacts few."""
    half, reach, notch, lift = 0.014, 0.032, 0.45 * 0.032, 0.0008
    b.add(
        _GEOM.mjGEOM_CYLINDER,
        (0.019, half / 4),
        at=(0.0, 0.0, -0.75 * half),
        mass=0.2,
        collides=True,
        seen=None,
    )
    x, w = notch * np.cos(np.pi / 5), notch * np.sin(np.pi / 5)
    spike = _prism(np.array([(0.0, 0.0), (x, -w), (reach, 0.0), (x, w)]), -half + lift, half)
    for k in range(5):
        quat = _about_z(2 * np.pi * k / 5 + np.pi / 2)
        b.add(_GEOM.mjGEOM_MESH, mass=0.16, collides=True, vertices=spike, quat=quat)


_BUILDERS = {
    "cube": _cube,
    "sphere": _sphere,
    "cup": _cup,
    "car": _car,
    "pyramid": _pyramid,
    "star": _star,
}
