"""``comparison.json``: what a comparison of collection strategies found, beside the run it rests on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heedful.store.disk import write_atomically
from heedful.store.json_file import read_json

NAME = "comparison.json"


def has_comparison(run: Path) -> bool:
    """Return whether the run folder ``run`` holds a comparison."""
    return (run / NAME).is_file()


def write_comparison(run: Path, found: Mapping[str, Any]) -> Path:
    """Replace the comparison of the run folder ``run``; numbers are kept unrounded."""
    path = run / NAME
    write_atomically(path, json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False).encode())
    return path


def read_comparison(run: Path) -> dict[str, Any]:
    """Return the comparison of the run folder ``run``.

    Raises:
        UserError: It is missing or damaged.
    """
    return read_json(run / NAME, "the same `heedful compare` command writes it anew")
