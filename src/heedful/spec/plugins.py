"""Worlds, policies, suites and judges found through entry points; ours come in the same way."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from heedful.spec.errors import unknown

Group = Literal["heedful.worlds", "heedful.policies", "heedful.suites", "heedful.judges"]
_KIND: dict[Group, str] = {
    "heedful.worlds": "world",
    "heedful.policies": "policy",
    "heedful.suites": "suite",
    "heedful.judges": "judge",
}


def registered(group: Group) -> dict[str, EntryPoint]:
    """Return the entry points of ``group`` by name; nothing is imported."""
    return {point.name: point for point in entry_points(group=group)}


def load(group: Group, name: str) -> Callable[..., Any]:
    """Import and return the factory registered as ``name`` in ``group``.

    Raises:
        UserError: No such name; the nearest valid one is suggested.
    """
    points = registered(group)
    if name not in points:
        raise unknown(
            group.removeprefix("heedful.").removesuffix("s").replace("policie", "policy"), name, points
        )
    factory: Callable[..., Any] = points[name].load()
    return factory
