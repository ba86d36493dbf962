"""What a demonstration depends on, as the key under which a cache keeps it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

from heedful.spec.codec import digest, to_json
from heedful.spec.demonstration import DemonstrationTask

RECORDING = 2
"""Raise it with every change to a world, an expert or the recording after which the same task
and seed give another demonstration; what is in caches is then collected again."""

_PACKAGES = ("heedful", "mujoco")


def cache_key(
    task: DemonstrationTask,
    base_seed: int,
    image_size: int,
    max_attempts: int,
    world: str,
    world_options: Mapping[str, Any],
    expert: Callable[..., Any] | None,
) -> str:
    """Return the key of a demonstration: equal for equal tasks collected in equal ways.

    Args:
        task: What is demonstrated.
        base_seed: Root of every random number.
        image_size: Height and width of the images in px.
        max_attempts: After so many failures the task is left out.
        world: Name of the world.
        world_options: Its options.
        expert: Who demonstrates; ``None``: the tabletop's scripted expert.
    """
    named: Any = expert if hasattr(expert, "__qualname__") else type(expert)
    who = None if expert is None else f"{named.__module__}.{named.__qualname__}"
    return digest(
        {
            "task": to_json(task),
            "base_seed": base_seed,
            "image_size": image_size,
            "max_attempts": max_attempts,
            "world": world,
            "world_options": dict(world_options),
            "expert": who,
            "recording": RECORDING,
            "versions": {name: version(name) for name in _PACKAGES},
        },
        40,
    )
