"""Files of JSON lines that only grow, and survive a kill in the middle of a line."""

from __future__ import annotations

import io
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from heedful.spec.errors import UserError
from heedful.store.disk import disk_errors


def append_line(path: Path, data: object) -> None:
    """Append ``data`` as one line and return only when the disk has it.

    Raises:
        UserError: The line could not be written; the file is as it was before.
    """
    line = json.dumps(data, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    with disk_errors(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            before = os.fstat(descriptor).st_size
            try:
                written = 0
                while written < len(line):
                    written += os.write(descriptor, line[written:])
                os.fsync(descriptor)
            except BaseException:
                with suppress(OSError):  # a torn line that stays is mended at the next start
                    os.ftruncate(descriptor, before)
                raise
        finally:
            os.close(descriptor)


def read_lines(path: Path, remedy: str) -> list[tuple[int, dict[str, Any]]]:
    """Return (line number from 1, object) for every whole line of ``path``.

    A damaged last line is what a kill leaves behind and is left out. A missing file is empty.

    Args:
        path: The file.
        remedy: What to do about a damaged line, the end of the error's sentence.

    Raises:
        UserError: A line before the last is damaged; names file, line and remedy.
    """
    lines, _ = _parse(path, remedy)
    return lines


def mend_tail(path: Path, remedy: str) -> bool:
    """Cut a torn last line off ``path``; return whether there was one. Writers only."""
    lines, whole = _parse(path, remedy)
    if not path.exists() or whole == path.stat().st_size:
        return False
    with disk_errors(path), path.open("r+b") as file:
        file.truncate(whole)
        os.fsync(file.fileno())
    return True


def _parse(path: Path, remedy: str) -> tuple[list[tuple[int, dict[str, Any]]], int]:
    """Return the whole lines and the number of bytes that they fill from the start."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror or error}.") from error
    parsed: list[tuple[int, dict[str, Any]]] = []
    whole = 0
    pieces = io.BytesIO(content).readlines()
    for number, piece in enumerate(pieces, start=1):
        last = number == len(pieces)
        if not piece.endswith(b"\n"):
            break  # only the last piece can lack its newline: the writer was killed
        if piece.strip():
            try:
                value = json.loads(piece)
            except ValueError as error:
                if last:
                    break
                raise UserError(f"{path}, line {number} is damaged ({error}); {remedy}.") from error
            if not isinstance(value, dict):
                raise UserError(f"{path}, line {number} is no JSON object; {remedy}.")
            parsed.append((number, value))
        whole += len(piece)
    return parsed, whole
