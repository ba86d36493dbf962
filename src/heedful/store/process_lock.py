"""One writer a folder: an advisory lock that the system frees even after a kill."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from heedful.spec.errors import UserError
from heedful.store.disk import disk_errors


class ProcessLock:
    """An exclusive hold on a folder, until ``release`` or the end of the process."""

    def __init__(self, folder: Path, name: str = ".lock") -> None:
        """Take the lock.

        Raises:
            UserError: Another process holds it; its number is named.
        """
        path = folder / name
        with disk_errors(path):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                holder = os.read(self._descriptor, 32).decode(errors="replace").strip() or "unknown"
                os.close(self._descriptor)
                raise UserError(
                    f"{folder} is in use by another process (number {holder}). "
                    "Wait for it, or end it, and run the same command again."
                ) from error
            except OSError:
                os.close(self._descriptor)
                raise
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, str(os.getpid()).encode())

    def release(self) -> None:
        """Give the folder free; may be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
