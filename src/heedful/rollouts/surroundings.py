"""What of a process a policy may change for everybody in it, and how it is put back."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class Surroundings:
    """The current folder and the depth of calls that Python allows."""

    folder: str
    recursion_limit: int

    @staticmethod
    def now() -> Surroundings:
        """Return those of this process as they are."""
        try:
            folder = os.getcwd()
        except OSError:  # it was deleted
            folder = ""
        return Surroundings(folder, sys.getrecursionlimit())

    def restore(self) -> None:
        """Put all of them back, as before an episode."""
        self.restore_calls()
        if self.folder:
            with suppress(OSError):
                os.chdir(self.folder)

    def restore_calls(self) -> None:
        """Put back what our own code needs to go on, as after every call of a policy."""
        if sys.getrecursionlimit() != self.recursion_limit:
            sys.setrecursionlimit(self.recursion_limit)
