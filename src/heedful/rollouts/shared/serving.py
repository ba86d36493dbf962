"""Which workers are being answered now, in memory that the driver reads when the answer never comes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import c_longlong
from typing import Any

_context = multiprocessing.get_context("spawn")


class Serving:
    """The process numbers of the workers in the present call; made by the driver, kept by the other."""

    def __init__(self, workers: int) -> None:
        self._numbers: Any = _context.RawArray(c_longlong, 1 + workers)

    @contextmanager
    def those(self, pids: Sequence[int]) -> Iterator[None]:
        """Do the block for the workers ``pids``."""
        self._numbers[1 : 1 + len(pids)] = list(pids)
        self._numbers[0] = len(pids)  # last: so many of the numbers count
        try:
            yield
        finally:
            self._numbers[0] = 0

    def now(self) -> set[int]:
        """Return the workers of the present call; none between calls."""
        return set(self._numbers[1 : 1 + self._numbers[0]])
