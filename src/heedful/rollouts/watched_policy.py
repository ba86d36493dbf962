"""A policy each of whose calls is limited, and leaves the process as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from heedful.rollouts.surroundings import Surroundings
from heedful.rollouts.watch import Watch
from heedful.spec.contract import Observation, PolicyContract
from heedful.spec.seams import Policy, Start


class WatchedPolicy:
    """Somebody else's policy, as a worker's loop sees it."""

    def __init__(
        self,
        policy: Policy,
        contract: PolicyContract,
        watch: Watch | None,
        call_s: float,
        surroundings: Surroundings | None,
    ) -> None:
        """Watch ``policy``.

        Args:
            policy: As it was loaded.
            contract: What it said then; it is not asked again.
            watch: Tells the driver of every call; ``None``: calls are not limited.
            call_s: How long one call may take.
            surroundings: What is put back after every call.
        """
        self.contract = contract
        self._policy, self._watch, self._call_s, self._around = policy, watch, call_s, surroundings

    def reset(self, start: Start) -> str:
        """Begin an episode."""
        with self._limited("policy.reset"):
            return self._policy.reset(start)

    def act(self, observation: Observation) -> NDArray[np.float64]:
        """Return the next actions as numbers; what they are made of may take its time, too."""
        with self._limited(f"policy.act at step {observation.step}"):
            return np.asarray(self._policy.act(observation), dtype=np.float64)

    @contextmanager
    def _limited(self, doing: str) -> Iterator[None]:
        if self._watch is None:
            yield
            return
        with self._watch.limited(doing, self._call_s):
            try:
                yield
            finally:
                if self._around is not None:
                    self._around.restore_calls()
