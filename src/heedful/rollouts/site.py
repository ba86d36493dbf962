"""Where worker processes live: on this machine, or on those of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Gone:
    """In place of a message: the worker died, or was overdue.

    Attributes:
        reason: Fits after "it was".
        blamed: The item it was busy with may be the cause; otherwise it is only tried again.
        begun: It was busy with that item already; otherwise this was no attempt.
    """

    reason: str
    blamed: bool = True
    begun: bool = True


Message = Gone | tuple[Any, ...]
"""``("ready",)``, ``("done", index, value)``, ``("failed", index, is_user_error, text)`` or Gone."""


class Worker(Protocol):
    """A process seen from the driver: it has one function and is busy with at most one item.

    Attributes:
        ready: It has unpickled its function.
        index: The item it is busy with.
        key: The kind of the last item; what is dear to load for that kind is loaded there.
    """

    ready: bool
    index: int | None
    key: str | None

    def give(self, index: int, key: str, item: bytes) -> None:
        """Send a pickled item."""

    def kill(self) -> None:
        """End the process, and those it started, at once; may be called twice."""

    def dismiss(self) -> None:
        """Let an idle worker close what it has open, for a few seconds at most."""


class Site(Protocol):
    """Starts workers and listens to them."""

    def start(self, function: bytes, time_limit_s: float | None) -> Worker:
        """Start a worker.

        Args:
            function: Pickled; called with every item.
            time_limit_s: The worker is overdue when it is busy with one item for longer.
        """

    def messages(self, team: Sequence[Worker]) -> list[tuple[Worker, Message]]:
        """Wait until one of ``team`` says something, dies or is overdue; the list may be empty.

        Raises:
            UserError: There will never be workers here.
        """
