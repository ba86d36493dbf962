"""What stands on the table, said without saying exactly where: a seed settles that."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ObjectSpec:
    """One object of a scene.

    Attributes:
        name: Unique within the scene, for example ``"target"``.
        shape: A shape the world knows (tabletop: cube, sphere, cup, car, pyramid, star).
        color: A color the world knows.
        size: A size the world knows; ``None`` is the standard size (scale 1).
        region: A region of the table; ``None`` is anywhere in the scene's area.
    """

    name: str
    shape: str
    color: str
    size: str | None = None
    region: str | None = None


@dataclass(frozen=True)
class SceneSpec:
    """A scene up to its random placement.

    Attributes:
        objects: In placement order; earlier objects get their place first.
        swap: Names of two objects whose sampled places (position and yaw) are exchanged
            after sampling, so that both arrangements come from one seed. Empty: no swap.
        yaw_range_rad: Object yaw is uniform in [-yaw_range_rad, +yaw_range_rad].
        robots: Number of arms (1 or 2).
    """

    objects: tuple[ObjectSpec, ...]
    swap: tuple[str, ...] = ()
    yaw_range_rad: float = 0.4
    robots: int = 1

    def object(self, name: str) -> ObjectSpec:
        """Return the object called ``name``; ``KeyError`` if there is none."""
        return next(o for o in self.objects if o.name == name)

    @property
    def description(self) -> str:
        """What stands there, equal for scenes that differ in placement only.

        >>> objects = ObjectSpec("a", "sphere", "red"), ObjectSpec("b", "cube", "blue", "small")
        >>> SceneSpec(objects).description
        'red sphere, small blue cube'
        """
        things = (" ".join(filter(None, (o.size, o.color, o.shape, o.region))) for o in self.objects)
        return ", ".join(sorted(things))
