"""Asking again when a service is busy: a bounded number of times, waiting longer each time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from heedful.language.chat import Busy, Chat, Reply, Sampling
from heedful.spec.errors import UserError


@dataclass(frozen=True)
class PatientChat:
    """A ``Chat`` that asks ``chat`` again while it is busy.

    Waits double from ``first_wait_s``; a wait that the service asks for is kept to instead.

    Attributes:
        chat: Who is asked.
        name: The model and its address, as errors name them.
        tries: Requests in all, the first included.
        first_wait_s: Before the second request.
        longest_wait_s: Before any request.
        pause: How to wait; may raise to give up.
    """

    chat: Chat
    name: str
    tries: int = 6
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0
    pause: Callable[[float], object] = time.sleep

    def complete(self, system: str, user: str, sampling: Sampling) -> Reply:
        """Return the reply to ``user``.

        Raises:
            UserError: It is still busy after ``tries`` requests, or asking again would not help.
        """
        reason = ""
        for number in range(self.tries):
            try:
                return self.chat.complete(system, user, sampling)
            except Busy as busy:
                reason = busy.reason
                if number + 1 < self.tries:
                    wait_s = self.first_wait_s * 2.0**number if busy.wait_s is None else busy.wait_s
                    self.pause(min(wait_s, self.longest_wait_s))
        raise UserError(
            f"{self.name} did not answer in {self.tries} tries; the last time: {reason}. "
            "Every answer so far is kept: run the same command again later."
        )
