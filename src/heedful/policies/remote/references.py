"""What stands behind ``openpi://`` and ``vla-eval://``: an address, and conventions or changes to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from heedful.policies.conventions.changes import Said, read_query
from heedful.policies.conventions.values import Reader, limit, text, truth
from heedful.policies.remote.connection import Address
from heedful.spec.errors import UserError

KINDS = ("openpi", "vla-eval")
DEFAULT_PORT = 8000
ANNOUNCED = "announced"
"""The preset of servers that say themselves what they take for granted, such as ``heedful serve``."""

CONNECTION: Mapping[str, Reader] = {
    "connect_s": limit,
    "reply_s": limit,
    "max_mb": limit,
    "tls": truth,
    "api_key_env": text,
}
"""Key of the query, a field of ``Address`` -> how its value is read."""


@dataclass(frozen=True)
class RemoteReference:
    """A reference, taken apart.

    Attributes:
        address: Where the server is, and how long it is waited for.
        said: Preset and changes.
    """

    address: Address
    said: Said


def parse(kind: str, rest: str) -> RemoteReference:
    """Return what ``kind:rest`` says.

    Args:
        kind: ``openpi`` or ``vla-eval``.
        rest: ``//HOST[:PORT][/PATH][?KEY=VALUE&...]``.

    Raises:
        UserError: No host, or a key or value that is not known; the nearest is suggested.
    """
    where = f"Policy {kind}:{rest}"
    try:
        parts = urlsplit(rest)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UserError(f"{where}: {error}.") from error
    if not rest.startswith("//") or not host:
        raise UserError(
            f"{where} names no server; write {kind}://HOST:PORT, for example {kind}://127.0.0.1:8000."
        )
    said = read_query(f"{kind}://", where, parts.query, CONNECTION, (ANNOUNCED,))
    address = Address(kind, host, port or DEFAULT_PORT, parts.path.rstrip("/"), **said.others)
    return RemoteReference(address, said)
