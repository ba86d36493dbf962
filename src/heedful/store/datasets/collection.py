"""A dataset being made: what was asked for, what is staged, and the finish."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from heedful.spec.errors import UserError
from heedful.store.datasets import layout
from heedful.store.datasets.staging import Staging
from heedful.store.datasets.write import assemble, refuse_parts_of_others
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
        check_request(out, request)
        staging = Staging(out)
        with disk_errors(out):
            out.mkdir(parents=True, exist_ok=True)
        collection = cls(staging, json.loads(json.dumps(request)), keys)
        try:
            check_request(out, request)  # again: another process may have been at it until just now
            collection._begin()
        except BaseException:
            collection.close()
            raise
        return collection

    def _begin(self) -> None:
        if self.complete:
            self.staging.clear()  # left behind by a kill between the last two steps
            return
        note = self.staging.folder / _REQUEST
        if note.exists():
            remove_leftovers(self.staging.folder)
        else:
            write_atomically(note, json.dumps(self._request).encode())

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


def check_request(out: Path, request: Mapping[str, Any]) -> None:
    """Refuse what ``Collection.open`` would refuse, as far as can be told by looking; nothing is written.

    Args:
        out: The dataset's folder.
        request: Everything that the content depends on, as plain JSON data.

    Raises:
        UserError: ``out`` holds another dataset or collection (a line for every difference), or
            other things.
    """
    if out.is_file():
        raise UserError(f"{out} is a file; a dataset needs a folder of its own.")
    wanted = json.loads(json.dumps(request))
    if (out / layout.INFO_PATH).exists():
        notes = out / layout.HEEDFUL_PATH
        if not notes.exists():
            raise UserError(
                f"{out} holds another dataset, which heedful did not write (no {layout.HEEDFUL_PATH}); "
                "choose another folder."
            )
        _compare(out, read_json(notes).get("request"), wanted)
        return
    staging = out / ".staging"
    other = [p.name for p in out.glob("*") if not p.name.startswith(".")] if out.is_dir() else []
    if other and not staging.exists():
        raise UserError(f"{out} is no dataset and is not empty ({sorted(other)[0]}); choose another folder.")
    refuse_parts_of_others(Staging(out))
    if (staging / _REQUEST).exists():
        _compare(out, read_json(staging / _REQUEST), wanted)


def _compare(out: Path, kept: Any, wanted: Mapping[str, Any]) -> None:
    if kept == wanted:
        return
    old = kept if isinstance(kept, dict) else {}
    lines = [
        f"  {key}: {old.get(key, 'absent')!r} in the folder, {wanted.get(key, 'absent')!r} asked for"
        for key in sorted({*old, *wanted})
        if old.get(key) != wanted.get(key)
    ]
    raise UserError(f"{out} holds another dataset; choose another folder or delete it:\n" + "\n".join(lines))
