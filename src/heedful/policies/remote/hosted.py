"""A policy of ours as a server sees it: told over the wire, asked over the wire."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.policies.conventions.conversion import observation_of
from heedful.policies.conventions.model import MODES, WIDTHS, Conventions
from heedful.spec.contract import Observation
from heedful.spec.seams import Policy, Start

LONGEST_INSTRUCTION = 10_000


class BadRequest(ValueError):
    """What a client sent cannot be answered; the text is for the client."""


class HostedPolicy:
    """One policy instance and the episode that it is in.

    A client that is not ours knows no policy that is done: it goes on asking and is told to
    stay where it is.
    """

    def __init__(self, policy: Policy, conventions: Conventions) -> None:
        self.conventions = conventions
        self._policy = policy
        self._words: str | None = None
        self._steps = 0
        self._done = False
        self._last: NDArray[np.float64] | None = None
        self.resting_since: float | None = None
        """When a client of ours got its last answer, by ``time.monotonic``; ``None`` while it is
        being answered, and for strangers, who may rest as long as they like."""

    @property
    def words(self) -> str | None:
        """The instruction of the episode as it came; ``None`` before the first."""
        return self._words

    def rest(self) -> None:
        """Note that a client of ours has its answer; it may come back soon, or not at all."""
        self.resting_since = time.monotonic()

    def begin(self, words: object, seed: object = 0) -> None:
        """Begin an episode.

        Raises:
            BadRequest: The instruction is no text, or the seed no number.
        """
        self.resting_since = None
        if not isinstance(words, str):
            raise BadRequest(f"the instruction is a {type(words).__name__}, not a text")
        if len(words) > LONGEST_INSTRUCTION:
            raise BadRequest(f"the instruction has {len(words)} letters; {LONGEST_INSTRUCTION} are the most")
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise BadRequest(f"the seed is {seed!r}, not a whole number")
        self._words = None  # a reset that fails leaves no episode to go on with
        self._policy.reset(Start(words, seed))
        self._words, self._steps, self._done, self._last = words, 0, False, None

    def chunk(
        self, images: Mapping[str, Any], state: Mapping[str, Any], step: object = None
    ) -> NDArray[np.float64]:
        """Return the policy's next actions [T, A]; T = 0 when it is done.

        Args:
            images: Key on the wire -> picture.
            state: Key on the wire -> state vector.
            step: Control steps since the episode's start; ``None``: as many as actions went out.

        Raises:
            BadRequest: Something is missing or has another shape.
        """
        self.resting_since = None
        steps = step if isinstance(step, int) and not isinstance(step, bool) else self._steps
        observation = self._seen(images, state, steps)
        actions = np.asarray(self._policy.act(observation), dtype=np.float64)
        width = WIDTHS[self.conventions.action]
        actions = actions if actions.size else np.zeros((0, width))
        self._steps += len(actions)
        self._done = not len(actions)
        if not self._done:
            executed = actions[: self._policy.contract.replan_steps]
            self._last = executed[-1]
        return actions

    def chunk_or_hold(
        self, images: Mapping[str, Any], state: Mapping[str, Any], step: object = None
    ) -> NDArray[np.float64]:
        """Return ``chunk``; once the policy is done, one action [1, A] that stays where the robot is."""
        if not self._done:
            actions = self.chunk(images, state, step)
            if len(actions):
                return actions
        return self._hold(self._seen(images, state, self._steps))[None]

    def _seen(self, images: Mapping[str, Any], state: Mapping[str, Any], step: int) -> Observation:
        try:
            return observation_of(self.conventions, images, state, step)
        except ValueError as error:
            raise BadRequest(str(error)) from error

    def _hold(self, observation: Observation) -> NDArray[np.float64]:
        mode = MODES[self.conventions.action]
        if self._last is not None and mode != "ee_delta":
            return self._last
        hold = np.zeros(WIDTHS[self.conventions.action])
        if mode == "joint_absolute":
            hold[:7] = observation.joint_state[0, :7]
        elif mode == "ee_absolute":
            hold[:6] = observation.proprioception[0, :6]
        hold[-1] = 1.0 if self._last is None else self._last[-1]
        return hold
