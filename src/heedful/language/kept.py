"""What a text model once made of a text, kept on disk for the next process.

One SQLite file: its transactions are atomic, and two processes may share it. Nothing here is
ever needed: a file that is damaged is thrown away, and one that cannot be read or written, or
that another process holds for too long, only costs the time to make its content again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heedful.language.model_files import own_cache

_AT_ONCE = 500  # SQLite once took 999 parameters at most
_PATIENCE_S = 5.0
_TABLE = """
CREATE TABLE IF NOT EXISTS kept (
    maker TEXT NOT NULL, key BLOB NOT NULL, checksum BLOB NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (maker, key)
) WITHOUT ROWID
"""


@dataclass(frozen=True)
class Kept:
    """The file at ``path``; made, with its folder, when something is first kept."""

    path: Path

    def recall(self, maker: str, texts: Sequence[str]) -> dict[str, bytes]:
        """Return what is kept of ``texts``; those not kept, or damaged, are left out.

        Args:
            maker: What made it: everything that the value depends on but the text.
            texts: Any texts.
        """
        found: dict[str, bytes] = {}
        if not os.access(self.path, os.R_OK):
            return found
        by_key = {_key(text): text for text in texts}
        keys = list(by_key)
        with self._forgiven(), self._opened() as file:
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = file.execute(
                    f"SELECT key, checksum, value FROM kept WHERE maker = ? AND key IN ({marks})",
                    (maker, *some),
                )
                for key, checksum, value in rows:
                    if checksum == _checksum(maker, key, value):
                        found[by_key[key]] = value
        return found

    def keep(self, maker: str, values: Mapping[str, bytes]) -> None:
        """Keep a value for each text, in one transaction.

        Args:
            maker: See :meth:`recall`.
            values: Text -> value.
        """
        keyed = {_key(text): value for text, value in values.items()}
        rows = [(maker, key, _checksum(maker, key, value), value) for key, value in keyed.items()]
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._forgiven(), self._opened() as file:
            file.execute(_TABLE)
            file.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", rows)
            file.commit()

    def _opened(self) -> contextlib.closing[sqlite3.Connection]:
        return contextlib.closing(sqlite3.connect(self.path, timeout=_PATIENCE_S))

    @contextlib.contextmanager
    def _forgiven(self) -> Iterator[None]:
        """Let trouble with the file end the block and nothing more; a damaged file is removed."""
        try:
            yield
        except sqlite3.OperationalError:
            pass  # held by another process, not writable, disk full
        except sqlite3.DatabaseError:
            with contextlib.suppress(OSError):
                self.path.unlink()


def kept_by_user(environment: Mapping[str, str] | None = None) -> Kept:
    """Return the file in the user's cache folder, ``$XDG_CACHE_HOME/heedful`` or ``~/.cache/heedful``."""
    return Kept(own_cache(os.environ if environment is None else environment) / "texts.sqlite")


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _checksum(maker: str, key: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(maker.encode() + key + value, digest_size=8).digest()
