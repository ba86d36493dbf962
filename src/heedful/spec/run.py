"""What a run was asked to do: the content of ``spec.yaml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError


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


def refuse_pooled(policies: Sequence[PolicyEntry]) -> None:
    """Refuse policies that would be taken for one: their results would be pooled.

    Entries of one name are one policy in several trainings or on several cases, so they
    must differ in ``training_seed`` or ``only``.

    Raises:
        UserError: Two entries share name, training seed and cases.
    """
    seen: dict[tuple[object, ...], PolicyEntry] = {}
    for entry in policies:
        key = (entry.name, entry.training_seed, tuple(sorted(entry.only.items())))
        first = seen.get(key)
        if first is None:
            seen[key] = entry
            continue
        if first.ref == entry.ref:
            raise UserError(f"Policy {entry.ref!r} is named twice.")
        raise UserError(
            f"Policies {first.ref!r} and {entry.ref!r} are both called {entry.name!r} and would be counted "
            "as one: give them different names, or tell them apart by training_seed or only."
        )
