"""How a folder is written in a reference, where ``?`` begins the options."""

from __future__ import annotations

from pathlib import Path


def folder_named(path: str) -> Path:
    """Return the folder that ``path`` names: ``%3F`` stands for a question mark, ``~`` for a home.

    Raises:
        RuntimeError: There is no such home.
    """
    return Path(path.replace("%3F", "?")).expanduser()


def written(folder: Path | str) -> str:
    """Return how ``folder`` is written in a reference.

    >>> written("a/b?c")
    'a/b%3Fc'
    """
    return str(folder).replace("?", "%3F")
