"""One JSON object a file, read with one clear line when it is missing or damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from heedful.spec.errors import UserError


def read_json(path: Path, remedy: str = "") -> dict[str, Any]:
    """Return the JSON object at ``path``.

    Raises:
        UserError: It is missing or damaged; the line ends with ``remedy``, if there is one.
    """
    cure = f": {remedy}." if remedy else "."
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise UserError(f"{path} is missing{cure}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} is damaged ({error}){cure}") from error
    if not isinstance(data, dict):
        raise UserError(f"{path} is damaged (no JSON object){cure}")
    return data
