"""Where a reference says other conventions than its server announces, and what to write instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from heedful.policies.conventions.values import CHANGES
from heedful.policies.remote.references import CONNECTION

if TYPE_CHECKING:
    from heedful.policies.remote.policy import RemotePolicy

_DELIBERATE = ("chunk", "replan", "control_hz")
"""Conventions that say how a policy is used, not what its numbers mean: a reference may choose them."""


def contradictions(policy: RemotePolicy) -> list[str]:
    """Return the names of the conventions that the server announces and the reference says otherwise."""
    announced, said = policy.greeting.announced, policy.conventions
    if announced is None:
        return []
    names = [field.name for field in fields(said) if field.name not in _DELIBERATE]
    return [name for name in names if getattr(announced, name) != getattr(said, name)]


def remedy(ref: str, found: Sequence[str]) -> str:
    """Return the line for a reference that contradicts its server.

    Args:
        ref: The whole reference.
        found: As ``contradictions``.
    """
    what = ", ".join(found)
    return (
        "This server announces its conventions: leave preset and changes out of the reference: "
        f"{without_conventions(ref)} (it contradicts {what})."
    )


def without_conventions(ref: str) -> str:
    """Return ``ref`` with only what its server does not announce.

    >>> without_conventions("openpi://host:8000?preset=openpi-libero&flip=both&reply_s=90&replan=5")
    'openpi://host:8000?reply_s=90&replan=5'
    """
    place, _, query = ref.partition("?")
    deliberate = [key for key, (name, _) in CHANGES.items() if name in _DELIBERATE]
    kept = [item for item in query.split("&") if item.partition("=")[0] in (*CONNECTION, *deliberate)]
    return f"{place}?{'&'.join(kept)}" if kept else place
