"""One episode on one connection, in the words of openpi or of vla-eval."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heedful import __version__
from heedful.policies.remote import arrays
from heedful.policies.remote.announcement import KEY
from heedful.policies.remote.connection import Connection, Limit, RemoteError
from heedful.policies.remote.protocols import other_line, other_spoken

_UNASKED = "the server sent a message that nobody had asked for"


@dataclass(frozen=True, eq=False)
class Look:
    """What goes out in one observation.

    Attributes:
        images: Key on the wire -> uint8 [H, W, 3].
        state: Key on the wire -> vector.
        prompt: Key of the instruction.
        words: The instruction as it went out at the episode's start.
        step: Control steps since then; only our own server is told.
    """

    images: Mapping[str, NDArray[np.uint8]]
    state: Mapping[str, NDArray[np.float64]]
    prompt: str
    words: str
    step: int


class Session(Protocol):
    """An open connection seen as a policy."""

    def greet(self) -> dict[Any, Any]:
        """Return what the server says of itself."""

    def begin(self, prompt: str, words: str, extra: Mapping[str, Any] | None) -> str:
        """Begin an episode; return the instruction decoded from the bytes that say it.

        Args:
            prompt: Key of the instruction.
            words: The instruction.
            extra: What only our own server is told; ``None`` for others.
        """

    def ask(self, look: Look, ours: bool) -> dict[Any, Any]:
        """Send an observation and return the server's answer."""


class OpenPi:
    """openpi: the server speaks first, and every observation carries the instruction; there is no reset."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._extra: dict[str, Any] = {}

    def greet(self) -> dict[Any, Any]:
        """Return the metadata map that the server sends to whoever connects."""
        return self._read(self._connection.receive_first(self._refuse_vla_eval))

    def _refuse_vla_eval(self) -> None:
        """Say so if the server is silent because it speaks vla-eval and waits for a hello."""
        if not self._connection.protocol and other_spoken(self._connection.address):
            raise self._connection.trouble(other_line(self._connection.address))

    def begin(self, prompt: str, words: str, extra: Mapping[str, Any] | None) -> str:
        """Encode the instruction as every observation will carry it; nothing is sent yet."""
        self._extra = dict(extra or {})
        return words_in(_packed(self._connection, {prompt: words}, "openpi"), "openpi", (prompt,))

    def ask(self, look: Look, ours: bool) -> dict[Any, Any]:
        """Send the observation map and return the map with the actions."""
        content: dict[str, Any] = {**look.images, **look.state, look.prompt: look.words}
        if ours:
            content[KEY] = {**self._extra, "step": look.step}
        message = _packed(self._connection, content, "openpi")
        refuse_other_words(self._connection, words_in(message, "openpi", (look.prompt,)), look.words)
        if (unasked := self._connection.unread()) is not None:
            self._read(unasked)
            raise self._connection.trouble(_UNASKED)
        self._connection.send(message)
        return self._read(self._connection.receive("reply_s"))

    def _read(self, data: bytes | str) -> dict[Any, Any]:
        if isinstance(data, str):
            raise reported(self._connection, data)
        return _unpacked(self._connection, data, "openpi")


class VlaEval:
    """vla-eval: typed and numbered messages; an episode's start is announced and has no answer."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._seq = 0

    def greet(self) -> dict[Any, Any]:
        """Exchange hellos and return the payload of the server's."""
        sent = self._send("hello", {"harness_version": f"heedful {__version__}", "protocol_version": 1})
        return self._reply(sent, "hello", "connect_s")

    def begin(self, prompt: str, words: str, extra: Mapping[str, Any] | None) -> str:
        """Announce the episode and return the instruction decoded from the announcement."""
        payload: dict[str, Any] = {"task": {"name": words}}
        if extra is not None:
            payload[KEY] = dict(extra)
        message = self._message("episode_start", payload)
        received = words_in(message, "vla-eval", ("payload", "task", "name"))
        self._connection.send(message)
        return received

    def ask(self, look: Look, ours: bool) -> dict[Any, Any]:
        """Send the observation and return the payload of the server's action."""
        payload: dict[str, Any] = {"images": dict(look.images), look.prompt: look.words, **look.state}
        if ours:
            payload[KEY] = {"step": look.step}
        message = self._message("observation", payload)
        received = words_in(message, "vla-eval", ("payload", look.prompt))
        refuse_other_words(self._connection, received, look.words)
        if (unasked := self._connection.unread()) is not None:  # an episode's start is answered if it fails
            self._read(unasked)
            raise self._connection.trouble(_UNASKED)
        self._connection.send(message)
        return self._reply(self._seq, "action", "reply_s")

    def _message(self, kind: str, payload: Mapping[str, Any]) -> bytes:
        self._seq += 1
        content = {"type": kind, "payload": payload, "seq": self._seq, "timestamp": time.time()}
        return _packed(self._connection, content, "vla-eval")

    def _send(self, kind: str, payload: Mapping[str, Any]) -> int:
        self._connection.send(self._message(kind, payload))
        return self._seq

    def _reply(self, seq: int, kind: str, limit: Limit) -> dict[Any, Any]:
        message = self._read(self._connection.receive(limit))
        payload, found = message.get("payload"), message.get("type")
        if kind == "hello" and found is None:  # openpi's metadata, sent before anybody asked
            raise self._connection.trouble(other_line(self._connection.address))
        if found != kind or not isinstance(payload, dict):
            raise self._connection.trouble(
                f"the server answers {str(found)[:40]!r} with a {type(payload).__name__}; "
                f"{kind!r} with a map is needed"
            )
        if message.get("seq") != seq:
            raise self._connection.trouble(
                f"the server answers message {message.get('seq')!r}; {seq} was the last one"
            )
        return payload

    def _read(self, data: bytes | str) -> dict[Any, Any]:
        if isinstance(data, str):
            raise reported(self._connection, data)
        message = _unpacked(self._connection, data, "vla-eval")
        if message.get("type") == "error":
            payload = message.get("payload")
            said = payload.get("error", payload) if isinstance(payload, dict) else payload
            raise reported(self._connection, str(said))
        return message


def words_in(message: bytes, coding: arrays.Coding, path: tuple[str, ...]) -> str:
    """Return the instruction that the bytes of ``message`` say, decoded again.

    Args:
        message: As it goes out.
        coding: How it is coded.
        path: Keys that lead to the instruction.
    """
    found: Any = arrays.unpack(message, coding)
    for key in path:
        found = found[key]
    return str(found)


def refuse_other_words(connection: Connection, encoded: str, told: str) -> None:
    """Refuse to send, or to go on, when the words are no longer those of the case.

    Raises:
        RemoteError: They differ; both are named.
    """
    if encoded != told:
        raise connection.trouble(f"the instruction on the wire is {encoded!r}, but the case says {told!r}")


def reported(connection: Connection, text: str) -> RemoteError:
    """Return the error for what a server says of its own failure: its last line; the rest is a note."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    error = connection.trouble(f"the server reports {lines[-1][:200] if lines else 'an error without words'}")
    if len(lines) > 1:
        error.add_note(f"All that the server said:\n{text[:10_000]}")
    return error


def _packed(connection: Connection, content: Mapping[str, Any], coding: arrays.Coding) -> bytes:
    try:
        return arrays.pack(content, coding)
    except arrays.BadMessage as error:
        raise connection.trouble(f"the observation {error}") from error


def _unpacked(connection: Connection, data: bytes, coding: arrays.Coding) -> dict[Any, Any]:
    try:
        return arrays.unpack(data, coding)
    except arrays.BadMessage as error:
        raise connection.trouble(f"the server's message {error}") from error


SESSIONS: dict[str, type[OpenPi] | type[VlaEval]] = {"openpi": OpenPi, "vla-eval": VlaEval}
"""Kind of reference -> how its servers are spoken to."""
