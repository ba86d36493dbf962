"""What stands behind ``openpi://`` and ``vla-eval://``: an address, and conventions or changes to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from heedful.policies.remote.connection import Address
from heedful.policies.remote.conventions import PRESETS, Conventions, checked
from heedful.policies.remote.values import CHANGES, CONNECTION, Reader
from heedful.spec.contract import CameraContract
from heedful.spec.errors import UserError, unknown

KINDS = ("openpi", "vla-eval")
DEFAULT_PORT = 8000
ANNOUNCED = "announced"
"""The preset of servers that say themselves what they take for granted, such as ``heedful serve``."""


@dataclass(frozen=True)
class RemoteReference:
    """A reference, taken apart.

    Attributes:
        address: Where the server is, and how long it is waited for.
        preset: Name of the conventions to begin with; empty: not said.
        changes: Key -> value that replaces the one of the preset; as in the YAML file.
    """

    address: Address
    preset: str
    changes: Mapping[str, Any]


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
    given: dict[str, str] = {}
    for item in filter(None, parts.query.split("&")):
        key, equals, value = item.partition("=")
        if key not in CONNECTION and key not in CHANGES and key not in ("preset", "conventions"):
            raise unknown(f"key of {kind}://", key, [*CONNECTION, *CHANGES, "preset", "conventions"])
        if not equals or not value:
            raise UserError(f"{where}: {key} has no value; write {key}=VALUE.")
        given[key] = unquote(value)
    changes: dict[str, Any] = _read_file(Path(given["conventions"])) if "conventions" in given else {}
    preset = given.get("preset", str(changes.pop("preset", "")))
    if preset and preset not in PRESETS and preset != ANNOUNCED:
        raise unknown("preset", preset, [*PRESETS, ANNOUNCED])
    connection = {
        CONNECTION[key][0]: _read(where, key, given[key], CONNECTION) for key in given if key in CONNECTION
    }
    changes.update({key: value for key, value in given.items() if key in CHANGES})
    address = Address(kind, host, port or DEFAULT_PORT, parts.path.rstrip("/"), **connection)
    return RemoteReference(address, preset, changes)


def changed(conventions: Conventions | None, changes: Mapping[str, Any], where: str) -> Conventions:
    """Return ``conventions`` with ``changes``.

    Args:
        conventions: What to begin with; ``None``: everything must be in ``changes``.
        changes: As ``RemoteReference.changes``.
        where: What is being read, for the error line.

    Raises:
        UserError: A value that cannot be, or conventions that do not hold together.
    """
    fields = {
        CHANGES[key][0]: _read(where, key, value, CHANGES) for key, value in changes.items() if key != "size"
    }
    if conventions is None:
        lacking = [key for key in ("cameras", "state", "prompt", "action", "gripper") if key not in fields]
        if lacking:
            raise UserError(f"{where}: without a preset the conventions must say {', '.join(lacking)}, too.")
        conventions = Conventions(**fields)
    else:
        conventions = replace(conventions, **fields)
    if "size" in changes:
        height, width = _read(where, "size", changes["size"], CHANGES)
        cameras = {k: CameraContract(c.name, height, width) for k, c in conventions.cameras.items()}
        conventions = replace(conventions, cameras=cameras)
    return checked(conventions, where)


def with_changes(ref: str, changes: Mapping[str, str]) -> str:
    """Return the reference ``ref`` with ``changes`` in its query, in place of what it said before.

    Raises:
        UserError: ``ref`` is no policy server.

    >>> with_changes("openpi://host:8000?preset=openpi-libero&flip=none", {"flip": "both"})
    'openpi://host:8000?preset=openpi-libero&flip=both'
    """
    kind = ref.partition(":")[0]
    if kind not in KINDS:
        raise UserError(
            f"Policy {ref!r} is no policy server: {', '.join(changes)} can be said only of "
            f"{' and '.join(f'{k}://' for k in KINDS)}."
        )
    place, _, query = ref.partition("?")
    kept = [item for item in query.split("&") if item and item.partition("=")[0] not in changes]
    added = [f"{key}={quote(value, safe='/:,+')}" for key, value in changes.items()]
    return f"{place}?{'&'.join([*kept, *added])}"


def _read_file(path: Path) -> dict[str, Any]:
    import yaml

    try:
        found: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"Cannot read conventions {path}: {str(error).splitlines()[0]}.") from error
    if not isinstance(found, dict):
        raise UserError(
            f"Conventions {path}: a mapping of keys to values is needed, not a {type(found).__name__}."
        )
    for key in found:
        if key not in CHANGES and key != "preset":
            raise unknown(f"key of {path}", str(key), [*CHANGES, "preset"])
    return found


def _read(where: str, key: str, value: Any, readers: Mapping[str, tuple[str, Reader]]) -> Any:
    try:
        return readers[key][1](value)
    except (TypeError, ValueError) as error:
        raise UserError(f"{where}: {key} is {value!r}; it must be {error}.") from error
