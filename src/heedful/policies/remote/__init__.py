"""Policies behind servers: clients and a server of openpi's and of vla-eval's protocol.

A reference says where the server is and what it takes for granted:
``openpi://127.0.0.1:8000?preset=openpi-libero&flip=both``. Our own server announces it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heedful.spec.errors import UserError

if TYPE_CHECKING:
    from heedful.policies.remote.greeting import Greeting
    from heedful.policies.remote.policy import RemotePolicy

_greetings: dict[object, Greeting] = {}
"""Servers that were there before: when one breaks down, the episodes to come crash, not the run."""


def make_openpi(rest: str) -> RemotePolicy:
    """Return the policy behind an openpi server (entry point ``openpi``).

    Args:
        rest: ``//HOST[:PORT][?KEY=VALUE&...]``; ``values`` has the keys.

    Raises:
        UserError: The server is not there, it is not known what it takes for granted, or it
            announces something else than ``rest`` says.
    """
    return _agreeing("openpi", rest)


def make_vla_eval(rest: str) -> RemotePolicy:
    """Return the policy behind a vla-eval model server (entry point ``vla-eval``); see ``make_openpi``."""
    return _agreeing("vla-eval", rest)


def connect(kind: str, rest: str) -> RemotePolicy:
    """Return the policy behind a server, even if it announces something else than ``rest`` says.

    Args:
        kind: ``openpi`` or ``vla-eval``.
        rest: As in ``make_openpi``.

    Raises:
        UserError: The server is not there, or it is not known what it takes for granted.
    """
    from heedful.policies.conventions.changes import changed
    from heedful.policies.conventions.presets import PRESETS
    from heedful.policies.remote.connection import RemoteError
    from heedful.policies.remote.patience import greet_patiently
    from heedful.policies.remote.policy import RemotePolicy
    from heedful.policies.remote.references import ANNOUNCED, parse

    reference = parse(kind, rest)
    address, preset = reference.address, reference.said.preset
    where = f"Policy {address.label}"
    if preset in PRESETS:  # a mistake in them need not wait for the server
        changed(PRESETS[preset].conventions, reference.said.changes, where)
    greeting = _greetings.get(address)
    if greeting is None:
        try:
            connection, _, greeting = greet_patiently(address, known=False)
        except RemoteError as error:
            raise UserError(f"Policy {error}") from error
        connection.close()
        _greetings[address] = greeting
    said = greeting.announced
    if preset == ANNOUNCED and said is None:
        raise UserError(f"{where} announces no conventions; name a preset: {', '.join(PRESETS)}.")
    if not preset and said is None and kind == "vla-eval":
        preset = "vla-eval"
    begin = PRESETS[preset].conventions if preset in PRESETS else said
    if begin is None and not reference.said.changes:
        presets = [name for name in PRESETS if name.startswith(kind)]
        raise UserError(
            f"{where} does not announce what it takes for granted (pictures, state, actions): say it, "
            f"for example {' or '.join(f'{address.label}?preset={name}' for name in presets)}."
        )
    return RemotePolicy(address, changed(begin, reference.said.changes, where), greeting)


def _agreeing(kind: str, rest: str) -> RemotePolicy:
    """Return the policy; refuse one whose server announces other conventions, before an hour is lost."""
    from heedful.policies.remote.contradictions import contradictions, remedy

    policy = connect(kind, rest)
    if found := contradictions(policy):
        policy.close()
        raise UserError(remedy(f"{kind}:{rest}", found))
    return policy
