"""One question to a language model, one reply; what every client of this room agrees on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from heedful.spec.errors import UserError

Outcome = Literal["complete", "truncated", "refused"]
TIMEOUT_S = 120.0
"""A server that sends nothing for so long is given up, and asked again."""
_LONGEST_REASON = 200


@dataclass(frozen=True)
class Sampling:
    """How a model is to choose its words.

    Attributes:
        max_output_tokens: Upper limit of a reply, a model's hidden reasoning included.
        temperature: 0 for the likeliest words; ``None``: the model's own default.
    """

    max_output_tokens: int = 8192
    temperature: float | None = None


@dataclass(frozen=True)
class Reply:
    """What a model said.

    Attributes:
        text: Its words; empty where it said none.
        outcome: ``truncated`` when the limit of tokens cut it off, ``refused`` when the model
            or a filter in front of it declined to answer.
        finish_reason: Why it ended, in the service's own words.
        input_tokens: As counted, and billed, by the service; ``None`` where it does not say.
        output_tokens: Likewise, hidden reasoning included.
    """

    text: str
    outcome: Outcome
    finish_reason: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


class Chat(Protocol):
    """A model that answers one question at a time, with no memory of earlier ones."""

    def complete(self, system: str, user: str, sampling: Sampling) -> Reply:
        """Return the reply to ``user``; may be called by several threads at once.

        Args:
            system: What the model is, and the rules it keeps to.
            user: What it is asked.
            sampling: How it chooses its words.

        Raises:
            Busy: Not now, but asking again may help.
            UserError: Asking again would not help: no such model, a refused key, a wrong address.
        """


class Busy(Exception):
    """The service cannot answer now: too many requests, a fault of its own, no answer in time."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        """Say why, and how many seconds the service asked to wait."""
        super().__init__(reason)
        self.reason = reason
        self.wait_s = wait_s


def status_trouble(where: str, status: int, reason: str, retry_after: str | None) -> Exception:
    """Return the error for an HTTP status that has no clearer meaning of its own.

    Args:
        where: The model and its address, as errors name them.
        status: The HTTP status.
        reason: What the service said; already free of secrets.
        retry_after: The header of that name, seconds or a date.
    """
    said = f"HTTP {status}" + (f" ({reason})" if reason else "")
    if status in (408, 409, 429) or status >= 500:
        return Busy(said, _seconds(retry_after))
    return UserError(f"{where} refused the request: {said}.")


def transport_trouble(where: str, error: BaseException) -> Exception | None:
    """Return what an error of the network below a client means; ``None`` if it is none.

    Clients bring httpx or its successor httpx2, whose errors have the same names.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    if "TimeoutException" in names:
        return Busy("no answer in time")
    if names & {"UnsupportedProtocol", "InvalidURL", "LocalProtocolError"}:
        return UserError(f"{where}: the address cannot be used ({shortened(str(error))}).")
    if names & {"ConnectError", "ProxyError"}:
        return UserError(
            f"{where}: no connection ({shortened(str(error))}). Is the server running, and the address right?"
        )
    if names & {"TransportError", "RequestError"}:
        return Busy(f"the connection broke ({shortened(str(error)) or type(error).__name__})")
    return None


def shortened(text: str, secret: str = "") -> str:
    """Return ``text`` on one line, not too long, without ``secret``."""
    line = " ".join(without(text, secret).split()).rstrip(".")
    return line if len(line) <= _LONGEST_REASON else line[: _LONGEST_REASON - 3] + "..."


def without(text: str, secret: str) -> str:
    """Return ``text`` with stars for ``secret``: a server may send back what it was sent."""
    return text.replace(secret, "***") if secret else text


def _seconds(retry_after: str | None) -> float | None:
    """Return the header's seconds; dates are rare and treated as absent."""
    try:
        value = float(retry_after or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None
