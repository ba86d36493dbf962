"""Finished demonstrations kept for other datasets that ask for the same ones.

A file is named by the key of what was asked for and by the checksum of its content,
``KEY.CHECKSUM.npz``, and appears in one step; so what is damaged is found when it is read,
and counts as not there. Files are hard links to the staged ones where the disk allows it,
copies elsewhere. Tasks that failed for good are remembered in the same way.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from heedful.spec.errors import UserError
from heedful.store.datasets.staging import Staging, State
from heedful.store.disk import disk_errors, write_atomically

_CHECKSUM_CHARACTERS = 32


@dataclass(frozen=True)
class DemonstrationCache:
    """A folder of demonstrations; several processes may use it at once.

    Keys are hexadecimal digests of everything that a demonstration depends on.
    """

    folder: Path

    def make(self) -> None:
        """Make the folder, so that a path that cannot be one is refused before anything is collected."""
        if self.folder.is_file():
            raise UserError(f"The cache {self.folder} is a file; it needs a folder.")
        with disk_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)

    def holds(self, key: str) -> bool:
        """Return whether something is kept under ``key``; whether it is whole shows when it is read."""
        return bool(self._files(key))

    def give(self, key: str, staging: Staging, name: str) -> State | None:
        """Stage under ``name`` what is kept under ``key``, and return what that is.

        Returns:
            ``None`` when nothing is kept, or only damaged files.
        """
        for path in self._files(key):
            content = _intact(path)
            if content is not None:
                state: State = "failed" if path.suffix == ".failed" else "demonstration"
                _link(path, staging.place(name, state), content)
                return state
        return None

    def keep(self, key: str, staging: Staging, name: str) -> None:
        """Keep what is staged under ``name``; it stays there, too."""
        state = staging.state(name)
        if state is None or any(_intact(path) is not None for path in self._files(key)):
            return
        source = staging.place(name, state)
        with disk_errors(source):
            content = source.read_bytes()
        _link(source, self._home(key) / f"{key}.{_checksum(content)}{source.suffix}", content)

    @contextmanager
    def claimed(self, key: str) -> Iterator[None]:
        """Wait until no other process is at work on ``key``, then keep others from it.

        Few keys share a lock, so that locks do not pile up; the system frees it after a kill.
        """
        home = self._home(key)
        with disk_errors(home):
            home.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(home / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _home(self, key: str) -> Path:
        return self.folder / key[:3]

    def _files(self, key: str) -> list[Path]:
        return sorted(p for p in self._home(key).glob(f"{key}.*") if p.suffix in (".npz", ".failed"))


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_CHECKSUM_CHARACTERS]


def _intact(path: Path) -> bytes | None:
    """Return the content of a kept file; ``None``, and the file is gone, when it is damaged."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None  # another process found it damaged
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror or error}.") from error
    if path.name.split(".")[1] == _checksum(content):
        return content
    with disk_errors(path):
        path.unlink(missing_ok=True)
    return None


def _link(source: Path, target: Path, content: bytes) -> None:
    """Make ``target`` the same file as ``source``, or where the disk cannot do that, a copy of it."""
    with disk_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, target)
        except FileExistsError:
            return
        except OSError:  # another disk, no links there, or ``source`` just went
            write_atomically(target, content)
