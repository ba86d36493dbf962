"""A YAML spec and ``--set`` options, merged into one mapping with known keys only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from heedful.spec.errors import UserError, unknown
from heedful.spec.yaml_file import parse_yaml


def merged(
    file: Path | None, settings: Sequence[str], given: Mapping[str, Any], keys: Collection[str]
) -> dict[str, Any]:
    """Return what the user asked for: the file, then each setting, then what other options gave.

    Args:
        file: YAML file with a mapping, or ``None``.
        settings: ``KEY=VALUE`` texts; dots in KEY go into nested mappings, VALUE is YAML.
        given: Values of other options; ``None`` was not given; mappings are merged.
        keys: The top-level keys that are known.

    Raises:
        UserError: An unknown key (the nearest is suggested), a file that is no YAML mapping,
            or a setting without ``=``.
    """
    found = _read(file) if file else {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise UserError(f"--set {setting}: write KEY=VALUE, for example options.rollouts=40.")
        _put(found, key.strip().split("."), _yaml(value, f"--set {key}"), setting)
    for key in found:
        if key not in keys:
            raise unknown("key", str(key), keys)
    for key, value in given.items():
        if isinstance(value, Mapping):
            kept = {k: v for k, v in value.items() if v is not None}
            inner = found.get(key) or {}
            if not isinstance(inner, Mapping):
                raise UserError(f"{key} must be a mapping of keys to values, not {inner!r}.")
            if kept:
                found[key] = {**inner, **kept}
        elif value is not None:
            found[key] = value
    return found


def _read(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"Cannot read spec {file}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"Cannot read spec {file}: it is no text in UTF-8.") from error
    data = _yaml(text, str(file))
    if not isinstance(data, dict):
        raise UserError(f"Spec {file} must be a mapping of keys to values, not {type(data).__name__}.")
    return data


def _yaml(text: str, where: str) -> Any:
    try:
        return parse_yaml(text)
    except ValueError as error:
        raise UserError(f"{where}: not valid YAML: {' '.join(str(error).split())}.") from error


def _put(target: dict[str, Any], path: Sequence[str], value: Any, setting: str) -> None:
    for key in path[:-1]:
        inner = target.setdefault(key, {})
        if not isinstance(inner, dict):
            raise UserError(f"--set {setting}: {key} is no mapping.")
        target = inner
    target[path[-1]] = value
