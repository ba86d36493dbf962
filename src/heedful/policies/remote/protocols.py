"""Which of the two protocols a server speaks, where a client that speaks the other one can tell."""

from __future__ import annotations

from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heedful.policies.remote.connection import Address

OTHER = {"openpi": "vla-eval", "vla-eval": "openpi"}
"""Protocol -> what it may be taken for."""

HEADER = "Heedful-Protocol"
"""In the handshake of our own server; its value is the protocol that it speaks."""

_HEALTH = {"openpi": "/healthz", "vla-eval": "/health"}
_ANSWER_S = 1.0


def other_spoken(address: Address) -> bool:
    """Return whether the server answers at the health page of the other protocol and not at its own.

    A server that is too busy to answer within a second is given the benefit of the doubt.
    """
    return _is_there(address, _HEALTH[OTHER[address.protocol]]) and not _is_there(
        address, _HEALTH[address.protocol]
    )


def other_line(address: Address) -> str:
    """Return what is wrong where the server speaks the other protocol, and what to write."""
    other = OTHER[address.protocol]
    return f"what listens there speaks {other}, not {address.protocol}: write {address.as_protocol(other)}"


def _is_there(address: Address, path: str) -> bool:
    kind = HTTPSConnection if address.tls else HTTPConnection
    with (
        suppress(OSError, HTTPException),
        closing(kind(address.host, address.port, timeout=_ANSWER_S)) as asking,
    ):
        asking.request("GET", path)
        return asking.getresponse().status == 200
    return False
