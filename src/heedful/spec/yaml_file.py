"""YAML that people write, read with one clear line when it cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heedful.spec.errors import UserError


def read_yaml(path: Path, refusal: str) -> Any:
    """Return the content of the YAML file ``path``.

    Args:
        path: The file.
        refusal: How the error line begins; the reason follows.

    Raises:
        UserError: It cannot be read, or is no YAML.
    """
    try:
        return parse_yaml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{refusal}: {reason}.") from error


def parse_yaml(text: str) -> Any:
    """Return what ``text`` says.

    Raises:
        ValueError: It is no YAML, or says what cannot be: a date of month 99, thousands of brackets.
    """
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error)) from error
