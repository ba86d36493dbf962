"""How a run is known to experiment trackers: ``tracking.json`` in its folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from heedful.spec.codec import from_json
from heedful.spec.errors import UserError
from heedful.store.disk import write_atomically
from heedful.store.json_file import read_json

NAME = "tracking.json"
_REMEDY = "delete it; the tracker then shows the run as a new one"


@dataclass(frozen=True)
class Tracked:
    """What one tracker knows of a run.

    Attributes:
        id: Its name for the run.
        step: The last step of the history that was sent; -1 before the first.
    """

    __pydantic_config__ = {"extra": "forbid"}

    id: str
    step: int = -1


def read_tracked(folder: Path, tracker: str) -> Tracked | None:
    """Return how the run in ``folder`` is known to ``tracker``; ``None`` when it is not yet.

    Raises:
        UserError: The file is damaged.
    """
    path = folder / NAME
    if not path.exists():
        return None
    found = read_json(path, _REMEDY).get(tracker)
    if found is None:
        return None
    try:
        return from_json(Tracked, found, f"{path}: {tracker}")
    except UserError as error:
        raise UserError(f"{error} The file is damaged: {_REMEDY}.") from error


def write_tracked(folder: Path, tracker: str, known: Tracked) -> None:
    """Note how the run in ``folder`` is known to ``tracker``; what others know is kept."""
    path = folder / NAME
    others = read_json(path, _REMEDY) if path.exists() else {}
    write_atomically(path, json.dumps({**others, tracker: asdict(known)}, indent=1).encode())
