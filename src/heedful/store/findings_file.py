"""What a whole job found, as one JSON file in its folder: ``comparison.json``, ``mend.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.store.disk import write_atomically
from heedful.store.json_file import read_json


@dataclass(frozen=True)
class FindingsFile:
    """The findings of one kind of job.

    Attributes:
        name: The file's name.
        command: The command that writes it.
    """

    name: str
    command: str

    def there(self, folder: Path) -> bool:
        """Return whether ``folder`` holds such findings."""
        return (folder / self.name).is_file()

    def write(self, folder: Path, found: Mapping[str, Any]) -> None:
        """Replace the findings in ``folder``; numbers are kept unrounded."""
        text = json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)
        write_atomically(folder / self.name, text.encode())

    def read(self, folder: Path) -> dict[str, Any]:
        """Return the findings in ``folder``.

        Raises:
            UserError: They are missing or damaged.
        """
        return read_json(folder / self.name, f"the same `{self.command}` command writes it anew")


COMPARISON = FindingsFile("comparison.json", "heedful compare")
MEND = FindingsFile("mend.json", "heedful mend")
