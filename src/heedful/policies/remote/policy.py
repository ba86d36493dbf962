"""A policy that lives behind a server."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.policies.conventions.conversion import wire_images, wire_state, world_actions
from heedful.policies.conventions.model import WIDTHS, Conventions
from heedful.policies.remote.announcement import KEY
from heedful.policies.remote.connection import Address, Connection, RemoteError, trouble
from heedful.policies.remote.greeting import Greeting
from heedful.policies.remote.patience import greet_patiently
from heedful.policies.remote.sessions import Look, Session, refuse_other_words
from heedful.spec.codec import digest, to_json
from heedful.spec.contract import Observation, PolicyContract
from heedful.spec.errors import UserError
from heedful.spec.seams import Start


@dataclass(frozen=True, eq=False)
class Answer:
    """What a server answered to one observation.

    Attributes:
        content: All of it.
        actions: [T, A] as they came.
        done: The policy says that it is done (our own server only).
    """

    content: Mapping[Any, Any]
    actions: NDArray[np.float64]
    done: bool


@dataclass
class RemotePolicy:
    """Asks a server; every episode has a connection of its own, so that none inherits another's trouble.

    Attributes:
        address: Where the server is.
        conventions: What its pictures, states and actions mean.
        greeting: What it said when it was first asked.
    """

    address: Address
    conventions: Conventions
    greeting: Greeting
    _connection: Connection | None = field(default=None, repr=False)
    _session: Session | None = field(default=None, repr=False)
    _words: str = field(default="", repr=False)

    @property
    def contract(self) -> PolicyContract:
        """What the conventions ask of a world."""
        return self.conventions.contract()

    @property
    def identity(self) -> str:
        """Digest of the policy that the server announces, as far as it does, and of the conventions.

        Where the server is and how long it is waited for do not count.
        """
        served = self.greeting.served
        return digest([served.policy, served.digest, to_json(self.conventions)])

    @property
    def training_seed(self) -> int | None:
        """Seed of the policy's training; ``None``: the server does not say."""
        return self.greeting.served.training_seed

    @property
    def ignores_words(self) -> bool:
        """The server says that its policy never reads the instruction."""
        return self.greeting.served.ignores_words

    def reset(self, start: Start) -> str:
        """Connect, begin an episode, and return the instruction decoded from the bytes that say it.

        A server that is away for a moment, or busy, is waited for.

        Raises:
            RemoteError: The server is not there, is another one than before, or breaks its protocol.
        """
        self.close()
        try:
            self._connection, self._session, greeting = greet_patiently(self.address, known=True)
            if not self.greeting.same_policy(greeting):
                raise self._connection.trouble("another policy is served there than when the run began")
            extra = {"seed": start.seed} if self._ours else None
            self._words = self._session.begin(self.conventions.prompt, start.instruction, extra)
            refuse_other_words(self._connection, self._words, start.instruction)
        except BaseException:
            self.close()
            raise
        return self._words

    def act(self, observation: Observation) -> NDArray[np.float64]:
        """Return the server's next actions, [T, A], as the world takes them; T = 0: it is done.

        Raises:
            RemoteError: The server fails, is too late, or answers what is no chunk of actions.
        """
        try:
            answer = self.ask(observation)
            self._refuse_misfits(answer)
        except BaseException:
            self.close()
            raise
        if answer.done:
            self.close()  # others may wait for the policy instance
        return world_actions(self.conventions, answer.actions, observation)

    def ask(self, observation: Observation) -> Answer:
        """Return what the server answers to ``observation``, whatever its numbers are."""
        if self._connection is None or self._session is None:
            raise UserError("A remote policy must be reset before it acts.")
        look = Look(
            wire_images(self.conventions, observation),
            wire_state(self.conventions, observation),
            self.conventions.prompt,
            self._words,
            observation.step,
        )
        content = self._session.ask(look, self._ours)
        said = content.get(KEY) if self._ours else None
        if isinstance(said, dict):  # our own server repeats the words that reached it
            refuse_other_words(self._connection, str(said.get("instruction")), self._words)
        done = isinstance(said, dict) and said.get("done") is True
        return Answer(content, self._actions(content), done)

    def close(self) -> None:
        """End the episode's connection."""
        if self._connection is not None:
            self._connection.close()
        self._connection = self._session = None

    def __del__(self) -> None:
        with suppress(Exception):  # at the end of the interpreter anything may be gone
            self.close()

    @property
    def _ours(self) -> bool:
        return self.greeting.announced is not None

    def _actions(self, content: Mapping[Any, Any]) -> NDArray[np.float64]:
        value = content.get("actions", content.get("action"))
        if value is None:
            keys = ", ".join(sorted(str(key)[:40] for key in content)[:10]) or "nothing"
            raise self._trouble(f"the answer holds no actions; found {keys}")
        if not isinstance(value, np.ndarray | list):
            raise self._trouble(f"the actions are a {type(value).__name__}, not an array")
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise self._trouble("the actions are lists of different lengths") from error
        if array.dtype.kind not in "iuf" or array.ndim not in (1, 2):
            raise self._trouble(
                f"the actions are an array of {array.dtype} of shape {list(array.shape)}, not numbers [T, A]"
            )
        actions = array.astype(np.float64)
        return actions[None] if actions.ndim == 1 and actions.size else np.atleast_2d(actions)

    def _refuse_misfits(self, answer: Answer) -> None:
        actions, action = answer.actions, self.conventions.action
        if answer.done:
            return
        if not actions.size:
            raise self._trouble("the answer holds no action at all")
        if actions.shape[1] != WIDTHS[action]:
            raise self._trouble(
                f"its actions have the shape {list(actions.shape)}; {action} needs [T, {WIDTHS[action]}]"
            )
        chunk = self.conventions.chunk
        if chunk is not None and len(actions) != chunk:
            raise self._trouble(f"the answer holds {len(actions)} actions; chunk={chunk} was said")
        if not np.isfinite(actions).all():
            t, a = np.argwhere(~np.isfinite(actions))[0]
            raise self._trouble(
                f"the server returned {actions[t, a]} in action {t}, number {a}; all must be finite"
            )

    def _trouble(self, line: str) -> RemoteError:
        return trouble(self.address, line)
