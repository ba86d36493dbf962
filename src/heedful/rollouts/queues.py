"""Which item a worker gets next: items of one kind go mostly to the same worker."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable


class AffinityQueues:
    """Items waiting, one queue a key; a key stands for what is dear to load, such as a policy."""

    def __init__(self, keys: Iterable[str]) -> None:
        """Queue item i under the i-th of ``keys``."""
        self._waiting: dict[str, deque[int]] = {}
        self._keys = list(keys)
        for index, key in enumerate(self._keys):
            self._waiting.setdefault(key, deque()).append(index)

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def put_back(self, index: int) -> None:
        """Queue item ``index`` again, to be next of its kind."""
        self._waiting.setdefault(self._keys[index], deque()).appendleft(index)

    def take(self, current: str | None, in_use: Collection[str]) -> int:
        """Return the next item for a worker; at least one must be waiting.

        Args:
            current: The key that the worker has loaded.
            in_use: Keys that other workers are busy with.
        """
        if current in self._waiting:
            key = current
        else:
            free = [key for key in self._waiting if key not in in_use]
            key = free[0] if free else max(self._waiting, key=lambda k: len(self._waiting[k]))
        assert key is not None
        index = self._waiting[key].popleft()
        if not self._waiting[key]:
            del self._waiting[key]
        return index
