"""How our own server says what it takes for granted, so that nothing needs to be said by the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
"""Keys may be added to an announcement without another version: clients leave out what they do not know."""

_EVERYTHING: tuple[Piece, ...] = ("ee_position", "ee_rpy", "fingers", "joints", "gripper_width")
_LONGEST_REF, _LONGEST_DIGEST = 1000, 64


@dataclass(frozen=True)
class Served:
    """Which policy a server says it serves; a server that does not say something leaves it at its default.

    Attributes:
        policy: Its reference on the server's machine.
        digest: Of its files, or what the policy says of itself.
        training_seed: Seed of its training.
        clients: Policy instances at most, and with them clients at a time.
        ignores_words: It never reads the instruction.
    """

    policy: str = ""
    digest: str = ""
    training_seed: int | None = None
    clients: int | None = None
    ignores_words: bool = False


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


def announcement(conventions: Conventions, served: Served) -> dict[str, Any]:
    """Return what stands under ``KEY``, plain data; what need not be said of the policy is left out."""
    unsaid = to_json(Served())
    said = {key: value for key, value in to_json(served).items() if value != unsaid[key]}
    return {"version": VERSION, **said, "conventions": to_json(conventions)}


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


def served(metadata: Mapping[str, Any]) -> Served:
    """Return which policy ``metadata`` announce; what is missing or of another type counts as not said."""
    found = metadata.get(KEY)
    said: Mapping[str, Any] = found if isinstance(found, dict) else {}
    return Served(
        policy=_text(said.get("policy"), _LONGEST_REF),
        digest=_text(said.get("digest"), _LONGEST_DIGEST),
        training_seed=_count(said.get("training_seed")),
        clients=_count(said.get("clients")),
        ignores_words=said.get("ignores_words") is True,
    )


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


def _text(value: object, longest: int) -> str:
    return shown(value, longest) if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
