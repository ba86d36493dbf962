"""Writing to disk so that a kill or a full disk never leaves half a file behind."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heedful.spec.errors import UserError

_FULL = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM}


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn an ``OSError`` met while writing ``path`` into the one line a user can act on."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise UserError(
                f"The disk is full: cannot write {path}. Everything finished is kept; "
                "free some space and run the same command again."
            ) from error
        if error.errno in _FORBIDDEN:
            raise UserError(
                f"Cannot write {path}: {os.strerror(error.errno)}. Choose a folder that you may write to."
            ) from error
        raise UserError(f"Cannot write {path}: {error.strerror or error}.") from error


def check_file(path: Path) -> None:
    """Refuse now, before the work, a file that could not be written after it; nothing is left behind.

    Folders above ``path`` that are missing will do: whoever writes makes them.

    Raises:
        UserError: ``path`` is a folder or a device, or its folder may not be written to.
    """
    with disk_errors(path):
        if path.is_dir():
            raise UserError(f"{path} is a folder; name the file to write.")
        if path.exists() and not path.is_file():
            raise UserError(f"{path} is a device, not a file; name the file to write.")
    _check_above(path)


def check_folder(path: Path) -> None:
    """Refuse now, before the work, a folder that could not be written after it; as ``check_file``.

    Raises:
        UserError: ``path`` is a file, or the folder above it may not be written to.
    """
    with disk_errors(path):
        if path.exists() and not path.is_dir():
            raise UserError(f"{path} is a file; name the folder to write to.")
    _check_above(path)


def _check_above(path: Path) -> None:
    """Refuse a path that cannot be made: the nearest folder above it must take a file."""
    with disk_errors(path):
        above = next(folder for folder in path.absolute().parents if folder.exists())
        if not above.is_dir():
            raise UserError(f"Cannot write {path}: {above} is a file, not a folder.")
        tempfile.TemporaryFile(dir=above).close()


def write_synced(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` and wait until the disk has it. Not atomic by itself."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_atomically(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data``: a reader sees the old content or the new, never a part.

    Raises:
        UserError: The disk is full or may not be written; the old content is still there.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write_synced(temporary, data)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def folder_written_atomically(path: Path) -> Iterator[Path]:
    """Give a temporary folder that becomes ``path`` when the block ends without an error.

    An older ``path`` is replaced. The temporary folder is a sibling called ``.tmp-...``;
    one left behind by a kill is removed by ``remove_leftovers``.
    """
    temporary = path.with_name(f".tmp-{path.name}-{os.getpid()}")
    outgoing = path.with_name(f".tmp-{path.name}-{os.getpid()}-old")
    with disk_errors(path):
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
    try:
        with disk_errors(path):
            yield temporary
            if path.exists():
                path.rename(outgoing)
            temporary.rename(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(outgoing, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed writers left in ``folder``. Only while nobody else writes there."""
    if folder.is_dir():
        for leftover in folder.glob(".tmp-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        for leftover in folder.glob(".*.tmp"):
            leftover.unlink(missing_ok=True)
