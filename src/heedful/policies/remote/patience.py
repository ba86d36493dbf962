"""Waiting for a server that is away for a moment, or busy with other clients."""

from __future__ import annotations

import time

from heedful.policies.remote.connection import Address, Connection, RemoteError
from heedful.policies.remote.greeting import Greeting, greet
from heedful.policies.remote.sessions import Session

_PAUSE_S = 0.5

_given_up: set[Address] = set()
"""Servers that this process has waited for in vain; they are not waited for again until one answers."""


def greet_patiently(address: Address, known: bool) -> tuple[Connection, Session, Greeting]:
    """Connect to a server as ``greet`` does; try again for ``connect_s`` seconds while it is away or busy.

    Args:
        address: Where it is.
        known: It was there before, so that it may well come back.

    Raises:
        RemoteError: As ``greet``; it stayed away, or busy, for too long.
        UserError: As ``greet``.
    """
    until = time.monotonic() + address.connect_s
    while True:
        try:
            found = greet(address)
        except RemoteError as error:
            if not error.passing or (error.passing == "away" and not known):
                raise
            if address in _given_up or time.monotonic() >= until:
                _given_up.add(address)
                raise
        else:
            _given_up.discard(address)
            return found
        _pause(min(_PAUSE_S, max(until - time.monotonic(), 0)))


def _pause(seconds: float) -> None:
    time.sleep(seconds)
