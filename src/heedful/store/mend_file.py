"""``mend.json``: what the closed loop found, in its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heedful.store.disk import write_atomically
from heedful.store.json_file import read_json

NAME = "mend.json"


def has_mend(folder: Path) -> bool:
    """Return whether ``folder`` holds a finished closed loop."""
    return (folder / NAME).is_file()


def write_mend(folder: Path, found: Mapping[str, Any]) -> Path:
    """Replace what ``folder`` says of its closed loop; numbers are kept unrounded."""
    path = folder / NAME
    write_atomically(path, json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False).encode())
    return path


def read_mend(folder: Path) -> dict[str, Any]:
    """Return what the closed loop in ``folder`` found.

    Raises:
        UserError: It is missing or damaged.
    """
    return read_json(folder / NAME, "the same `heedful mend` command writes it anew")
