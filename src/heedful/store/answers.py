"""A folder of answers that were paid for once: one file a question, named by its digest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from heedful.store.disk import disk_errors, remove_leftovers, write_atomically
from heedful.store.json_file import read_json
from heedful.store.process_lock import ProcessLock


class Answers:
    """Answers by digest, safe against kills; threads may read and write different ones at once."""

    def __init__(self, folder: Path) -> None:
        """Open the folder for this process alone; it is made when missing.

        Raises:
            UserError: It cannot be written, or another process is using it.
        """
        self.folder = folder
        with disk_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self._lock = ProcessLock(folder)
        remove_leftovers(folder)

    def get(self, digest: str) -> dict[str, Any] | None:
        """Return the question and its answer; ``None`` if it was never answered.

        Raises:
            UserError: The file is damaged.
        """
        path = self._path(digest)
        return read_json(path, "remove it, and the question is asked again") if path.exists() else None

    def put(self, digest: str, data: dict[str, Any]) -> None:
        """Keep a question and its answer; returns when the disk has them."""
        # Escaped, so that text of which UTF-8 knows nothing (lone surrogates) survives as it came.
        write_atomically(self._path(digest), json.dumps(data, indent=1).encode())

    def close(self) -> None:
        """Let other processes use the folder."""
        self._lock.release()

    def _path(self, digest: str) -> Path:
        return self.folder / f"{digest}.json"


def answers_kept(folder: Path) -> int:
    """Return how many answers are in ``folder``; 0 where there is none."""
    return sum(1 for _ in folder.glob("*.json"))
