"""The files of a checkpoint folder of LeRobot, read without LeRobot."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heedful.spec.errors import UserError

CONFIG, WEIGHTS, ADAPTER = "config.json", "model.safetensors", "adapter_config.json"
PREPROCESSOR, POSTPROCESSOR = "policy_preprocessor.json", "policy_postprocessor.json"

_LARGEST_HEADER = 100_000_000


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """Return the mapping in a JSON file.

    Raises:
        UserError: It is missing, cannot be read, or is damaged.
    """
    path = folder / name
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"Checkpoint {folder}: {name} is missing.{_older(folder, name)}") from error
    except OSError as error:
        raise UserError(f"Checkpoint {folder}: {name} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise damaged(folder, name) from error
    if not isinstance(found, dict):
        raise damaged(folder, name)
    return found


def read_steps(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the steps of a processor, all of whose files are there.

    Raises:
        UserError: The file, or one that it speaks of, is missing or damaged.
    """
    steps = read_json(folder, name).get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise damaged(folder, name, "it has no list of steps")
    for step in steps:
        if not isinstance(step.setdefault("config", {}), dict):
            raise damaged(folder, name, "the config of a step is no mapping")
        _refuse_bad_settings(folder, name, step["config"])
        file = step.get("state_file")
        if file is None:
            continue
        if not isinstance(file, str) or file in ("", ".", "..") or set(file) & set("/\\\0"):
            raise damaged(folder, name, f"its state_file {file!r} is no name of a file in the folder")
        if not (folder / file).is_file():
            raise UserError(f"Checkpoint {folder}: {file} is missing, of which {name} speaks.")
    return steps


def tensor_shapes(path: Path) -> dict[str, list[int]]:
    """Return tensor -> shape from the header of a safetensors file.

    Raises:
        UserError: It is damaged.
    """
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header: Any = json.loads(file.read(length)) if length < _LARGEST_HEADER else None
        return {str(name): list(t["shape"]) for name, t in header.items() if name != "__metadata__"}
    except (OSError, ValueError, struct.error, AttributeError, KeyError, TypeError, RecursionError) as error:
        raise damaged(path.parent, path.name) from error


def file_states(folder: Path) -> dict[str, tuple[int, int]]:
    """Return file -> size and time of writing, of the files that make the policy what it is.

    Raises:
        OSError: The folder, or a file in it, is gone.
    """
    paths = [path for path in folder.iterdir() if path.suffix in (".json", ".safetensors")]
    states = {path.name: path.stat() for path in paths}
    return {name: (state.st_size, state.st_mtime_ns) for name, state in states.items()}


def damaged(folder: Path, name: str, why: str = "") -> UserError:
    """Return the error for a file that is not what it should be."""
    return UserError(f"Checkpoint {folder}: {name} is damaged{why and f': {why}'}.")


def _refuse_bad_settings(folder: Path, name: str, config: Mapping[str, Any]) -> None:
    """Refuse settings of a step that heedful reads and that are of another kind."""
    for key, value_type, what in (
        ("rename_map", str, "name to name"),
        ("norm_map", str, "type of feature to mode"),
        ("features", dict, "name to feature"),
        ("stats", dict, "name to statistics"),
    ):
        found = config.get(key)
        if found is None:
            continue
        if not isinstance(found, dict) or not all(isinstance(v, value_type) for v in found.values()):
            raise damaged(folder, name, f"{key} is no mapping of {what}")


def _older(folder: Path, name: str) -> str:
    if name == CONFIG:
        return ""
    return (
        " LeRobot before 0.4 wrote none; add it with: python -m "
        f"lerobot.processor.migrate_policy_normalization --pretrained-path {folder}"
    )
