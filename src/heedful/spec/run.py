"""What a run was asked to do: the content of ``spec.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heedful.spec.case import PolicyEntry


@dataclass(frozen=True)
class RunSpec:
    """A run, resolved.

    Attributes:
        suite: Name of the suite.
        options: The suite's options, checked by the suite.
        policies: Who is asked.
        world: Name of the world.
        world_options: Options of the world.
        base_seed: Root of every seed of the run.
    """

    __pydantic_config__ = {"extra": "forbid"}

    suite: str
    options: Mapping[str, Any]
    policies: tuple[PolicyEntry, ...]
    world: str = "tabletop"
    world_options: Mapping[str, Any] = field(default_factory=dict)
    base_seed: int = 0
