"""How long a worker may be busy with something, in memory that its driver reads while it is."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_char, c_double
from dataclasses import dataclass, fields
from typing import Any

from heedful.rollouts.home import end_if_forked
from heedful.spec.errors import UserError

_context = multiprocessing.get_context("spawn")
_WORDS = 160


@dataclass(frozen=True)
class Limits:
    """When a worker is taken to hang; it is then killed, and its episode is tried once more.

    Attributes:
        episode_s: One episode, from the reset of the world to the last step.
        call_s: One call of the policy (``reset`` or ``act``).
        load_s: Loading one policy or the world.
    """

    episode_s: float = 300.0
    call_s: float = 120.0
    load_s: float = 900.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise UserError(f"The limit {field.name} is {value:g} s; it must be above 0.")


LIMITS = Limits()
"""The usual ones."""


class Watch:
    """A worker's deadline, and the words for what it is doing; made by the driver, kept by the worker.

    Nothing is sent and no thread helps: a worker that hangs in foreign code, holding every
    lock there is, is found out all the same. Travels to a process only as it is started.
    """

    def __init__(self) -> None:
        self._numbers = _context.RawArray(c_double, [float("inf"), float("inf")])
        self._doing: Any = _context.RawArray(c_char, _WORDS)

    @contextmanager
    def limited(self, doing: str, limit_s: float | None) -> Iterator[None]:
        """Do the block within ``limit_s`` seconds, or be killed by the driver.

        Blocks may be nested; the earliest deadline counts.

        Args:
            doing: Words for the block, as in "killed after 60 s in policy.act at step 3".
            limit_s: ``None``: no limit of its own.
        """
        deadline, limit = self._numbers
        before = deadline, limit, self._doing.value
        ends = float("inf") if limit_s is None else time.monotonic() + limit_s
        if ends < deadline:
            deadline, limit = ends, limit_s or 0.0
        self._set(deadline, limit, doing.encode(errors="replace")[: _WORDS - 1])
        try:
            yield
        finally:
            end_if_forked()  # before it writes into memory that it shares with the process it is a copy of
            self._set(*before)

    def _set(self, deadline: float, limit: float, doing: bytes) -> None:
        self._doing.value, self._numbers[1] = doing, limit
        self._numbers[0] = deadline  # last: the driver reads the words only once this has passed

    @property
    def deadline(self) -> float:
        """When the worker is overdue, by ``time.monotonic``; infinite while it is not limited."""
        return float(self._numbers[0])

    @property
    def doing(self) -> str:
        """Words for what the worker does now; empty when it did not say."""
        words: bytes = self._doing.value
        return words.decode(errors="replace")

    def reason(self) -> str:
        """Return why a worker that is overdue was killed."""
        return f"killed after {self._numbers[1]:g} s{f' in {self.doing}' if self.doing else ''}"
