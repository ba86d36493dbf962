"""Changes to conventions, from the query of a reference or from a YAML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from heedful.policies.conventions.model import Conventions, checked
from heedful.policies.conventions.presets import PRESETS
from heedful.policies.conventions.values import CHANGES, Reader
from heedful.spec.contract import CameraContract
from heedful.spec.errors import UserError, unknown

KINDS = ("openpi", "vla-eval", "lerobot")
"""Kinds of references that may say conventions."""

_BEGINNINGS = ("preset", "conventions")


@dataclass(frozen=True)
class Said:
    """What the query of a reference says.

    Attributes:
        preset: Name of the conventions to begin with; empty: not said.
        changes: Key -> value that replaces the one of the preset; as in the YAML file.
        others: Other keys -> values, read.
    """

    preset: str
    changes: Mapping[str, Any]
    others: Mapping[str, Any] = field(default_factory=dict)


def read_query(
    kind: str, where: str, query: str, others: Mapping[str, Reader], presets: Sequence[str] = ()
) -> Said:
    """Return what ``query`` says.

    Args:
        kind: How the kind of reference begins, for error lines.
        where: What is being read, for error lines.
        query: ``KEY=VALUE&KEY=VALUE``; the keys of ``values.CHANGES``, ``preset``,
            ``conventions`` (a YAML file with such keys), and those of ``others``.
        others: Other keys -> how their values are read, from the query or from the file.
        presets: Names that are known beside those of ``PRESETS``.

    Raises:
        UserError: A key, preset or value that is not known, or a file that cannot be read.
    """
    given: dict[str, str] = {}
    for item in filter(None, query.split("&")):
        key, equals, value = item.partition("=")
        if key not in others and key not in CHANGES and key not in _BEGINNINGS:
            raise unknown(f"key of {kind}", key, [*others, *CHANGES, *_BEGINNINGS])
        if not equals or not value:
            raise UserError(f"{where}: {key} has no value; write {key}=VALUE.")
        given[key] = unquote(value)
    changes: dict[str, Any] = _read_file(Path(given["conventions"]), others) if "conventions" in given else {}
    in_file = str(changes.pop("preset", ""))
    preset = given.get("preset", in_file)
    if preset and preset not in PRESETS and preset not in presets:
        raise unknown("preset", preset, [*PRESETS, *presets])
    asked = {key: changes.pop(key) for key in others if key in changes} | given
    found = {key: _read(where, key, asked[key], read) for key, read in others.items() if key in asked}
    changes.update({key: value for key, value in given.items() if key in CHANGES})
    return Said(preset, changes, found)


def changed(conventions: Conventions | None, changes: Mapping[str, Any], where: str) -> Conventions:
    """Return ``conventions`` with ``changes``.

    Args:
        conventions: What to begin with; ``None``: everything must be in ``changes``.
        changes: As ``Said.changes``.
        where: What is being read, for the error line.

    Raises:
        UserError: A value that cannot be, or conventions that do not hold together.
    """
    fields = {
        CHANGES[key][0]: _read(where, key, value, CHANGES[key][1])
        for key, value in changes.items()
        if key != "size"
    }
    if conventions is None:
        lacking = [key for key in ("cameras", "state", "prompt", "action", "gripper") if key not in fields]
        if lacking:
            raise UserError(f"{where}: without a preset the conventions must say {', '.join(lacking)}, too.")
        conventions = Conventions(**fields)
    else:
        conventions = replace(conventions, **fields)
    if "size" in changes:
        height, width = _read(where, "size", changes["size"], CHANGES["size"][1])
        cameras = {k: CameraContract(c.name, height, width) for k, c in conventions.cameras.items()}
        conventions = replace(conventions, cameras=cameras)
    return checked(conventions, where)


def with_changes(ref: str, changes: Mapping[str, str]) -> str:
    """Return the reference ``ref`` with ``changes`` in its query, in place of what it said before.

    Raises:
        UserError: ``ref`` is of a kind that has no conventions.

    >>> with_changes("openpi://host:8000?preset=openpi-libero&flip=none", {"flip": "both"})
    'openpi://host:8000?preset=openpi-libero&flip=both'
    """
    kind = ref.partition(":")[0]
    if kind not in KINDS:
        raise UserError(
            f"Policy {ref!r} has no conventions to change: {', '.join(changes)} can be said only of policies "
            f"whose reference begins with {', '.join(KINDS)}."
        )
    place, _, query = ref.partition("?")
    kept = [item for item in query.split("&") if item and item.partition("=")[0] not in changes]
    added = [f"{key}={quote(value, safe='/:,+')}" for key, value in changes.items()]
    return f"{place}?{'&'.join([*kept, *added])}"


def _read_file(path: Path, others: Mapping[str, Reader]) -> dict[str, Any]:
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
        if key not in CHANGES and key not in others and key != "preset":
            raise unknown(f"key of {path}", str(key), [*others, *CHANGES, "preset"])
    return found


def _read(where: str, key: str, value: Any, reader: Reader) -> Any:
    try:
        return reader(value)
    except (TypeError, ValueError) as error:
        raise UserError(f"{where}: {key} is {value!r}; it must be {error}.") from error
