"""How our own server says what it takes for granted, so that nothing needs to be said by the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heedful.policies.conventions.model import Conventions, Piece, checked
from heedful.policies.remote.arrays import Coding
from heedful.policies.remote.connection import shown
from heedful.spec.codec import from_json, to_json
from heedful.spec.contract import PolicyContract
from heedful.spec.errors import UserError

KEY = "heedful"
"""Key of openpi's metadata map and of vla-eval's hello under which the conventions stand; in an
observation, an episode's start and an answer it holds what their protocols have no place for."""

VERSION = 1

_EVERYTHING: tuple[Piece, ...] = ("ee_position", "ee_rpy", "fingers", "joints", "gripper_width")


def conventions_for(contract: PolicyContract, coding: Coding) -> Conventions:
    """Return the conventions under which a policy with ``contract`` is served: those of heedful itself.

    Raises:
        UserError: The contract asks for what no server can have.
    """
    prefix, state, prompt = (
        ("observation/", "observation/state", "prompt")
        if coding == "openpi"
        else ("", "states", "task_description")
    )
    conventions = Conventions(
        cameras={prefix + camera.name: camera for camera in contract.cameras},
        state={state: _EVERYTHING},
        prompt=prompt,
        action=contract.action_mode,
        gripper="open_one",
        control_hz=contract.control_hz,
        replan=contract.replan_steps,
    )
    return checked(conventions, "the policy's contract")


def announcement(conventions: Conventions, ref: str) -> dict[str, Any]:
    """Return what stands under ``KEY``, plain data."""
    return {"version": VERSION, "policy": ref, "conventions": to_json(conventions)}


def announced(metadata: Mapping[str, Any], where: str) -> Conventions | None:
    """Return the conventions that ``metadata`` announce; ``None`` if they announce none.

    Args:
        metadata: What the server said of itself.
        where: How error lines name the server.

    Raises:
        UserError: Another version of heedful, or conventions that do not hold together.
    """
    said = metadata.get(KEY)
    if said is None:
        return None
    if not isinstance(said, dict) or said.get("version") != VERSION:
        version = said.get("version") if isinstance(said, dict) else said
        raise UserError(
            f"{where} announces conventions of version {str(version)[:40]!r}; {VERSION} is known."
        )
    return checked(from_json(Conventions, said.get("conventions"), where), where)


def shown_metadata(metadata: Mapping[Any, Any]) -> dict[str, str]:
    """Return what a server says of itself, in at most 200 characters a value; of ours, which policy it is."""
    own = metadata.get(KEY)
    found = {}
    for key, value in (own if isinstance(own, dict) else metadata).items():
        if key in ("conventions", "version") and isinstance(own, dict):
            continue  # compared line by line
        text = " ".join(repr(value).split())
        found[shown(str(key), 60)] = text if len(text) <= 200 else text[:197] + "..."
    return found
