"""A dataset being made: what was asked for, what is staged, and the finish."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from heedful.spec.errors import UserError
from heedful.store.datasets import layout
from heedful.store.datasets.staging import Staging
from heedful.store.datasets.write import assemble
from heedful.store.disk import disk_errors, remove_leftovers, write_atomically
from heedful.store.json_file import read_json
from heedful.store.process_lock import ProcessLock

_REQUEST = "request.json"


class Collection:
    """The collection of one dataset; this process is its only driver until ``close``."""

    def __init__(self, staging: Staging, request: Mapping[str, Any], keys: Sequence[str]) -> None:
        """Use ``Collection.open``."""
        self.staging = staging
        self._request = request
        self._keys = keys
        self._lock = ProcessLock(staging.out)

    @classmethod
    def open(cls, out: Path, request: Mapping[str, Any], keys: Sequence[str]) -> Collection:
        """Begin or go on collecting ``keys`` into the dataset ``out``.

        Args:
            out: The dataset's folder.
            request: Everything that the content depends on, as plain JSON data.
            keys: Keys of the demonstrations, in the order of the episodes.

        Raises:
            UserError: ``out`` holds another dataset or collection (a line for every
                difference), is in use, or holds other things.
        """
        if out.is_file():
            raise UserError(f"{out} is a file; a dataset needs a folder of its own.")
        known = (out / layout.INFO_PATH).exists() or (out / ".staging").exists()
        other = [p.name for p in out.glob("*") if not p.name.startswith(".")] if out.is_dir() else []
        if other and not known:
            raise UserError(
                f"{out} is no dataset and is not empty ({sorted(other)[0]}); choose another folder."
            )
        staging = Staging(out)
        with disk_errors(out):
            out.mkdir(parents=True, exist_ok=True)
        collection = cls(staging, json.loads(json.dumps(request)), keys)
        try:
            collection._same_request()
        except BaseException:
            collection.close()
            raise
        return collection

    def _same_request(self) -> None:
        if self.complete:
            kept = read_json(self.staging.out / layout.HEEDFUL_PATH).get("request")
            self._compare(kept)
            self.staging.clear()  # left behind by a kill between the last two steps
            return
        note = self.staging.folder / _REQUEST
        if note.exists():
            self._compare(read_json(note))
            remove_leftovers(self.staging.folder)
        else:
            write_atomically(note, json.dumps(self._request).encode())

    def _compare(self, kept: Any) -> None:
        if kept == self._request:
            return
        old = kept if isinstance(kept, dict) else {}
        new = self._request
        lines = [
            f"  {key}: {old.get(key, 'absent')!r} in the folder, {new.get(key, 'absent')!r} asked for"
            for key in sorted({*old, *new})
            if old.get(key) != new.get(key)
        ]
        raise UserError(
            f"{self.staging.out} holds another dataset; choose another folder or delete it:\n"
            + "\n".join(lines)
        )

    @property
    def complete(self) -> bool:
        """Whether the dataset is finished."""
        return (self.staging.out / layout.INFO_PATH).exists()

    def finish(self) -> None:
        """Make the dataset of what is staged; every key must be settled."""
        failed = [key for key in self._keys if self.staging.state(key) == "failed"]
        if len(failed) == len(self._keys):
            raise UserError(
                f"None of the {len(failed)} tasks was achieved; there is nothing to make a dataset of."
            )
        gone = set(failed)
        assemble(self.staging, [key for key in self._keys if key not in gone], failed, self._request)

    def counts(self) -> tuple[int, int, int]:
        """Return demonstrations, failed tasks and attempts of the finished dataset."""
        notes = read_json(self.staging.out / layout.HEEDFUL_PATH)
        entries = [*notes["episodes"], *notes["failed"]]
        return len(notes["episodes"]), len(notes["failed"]), sum(entry["attempts"] for entry in entries)

    def close(self) -> None:
        """Let other processes in."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
