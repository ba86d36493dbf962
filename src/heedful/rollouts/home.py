"""A copy of a worker that a policy forks off must not come back to the worker's own work.

It would run the episode a second time and answer in the worker's name. Children that go their own way
(``subprocess``, ``multiprocessing``, a fork that ends itself) are left alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable

_home = 0


def stay_at_home(close: Callable[[], None]) -> None:
    """Remember that the work is this process's.

    Args:
        close: Called in every copy of it that is forked off; closes what only this process may speak
            through, so that its end is noticed although copies live on.
    """
    global _home
    _home = os.getpid()
    os.register_at_fork(after_in_child=close)


def end_if_forked() -> None:
    """End a process that is a copy of the one whose work this is; without a word."""
    if _home and os.getpid() != _home:
        os._exit(0)
