"""One WebSocket connection to a policy server; every wait and every size has a limit."""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from heedful.policies.remote.protocols import HEADER, OTHER

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

Limit = Literal["connect_s", "reply_s"]
"""Field of ``Address`` with the longest wait for a message."""

Passing = Literal["", "away", "busy"]

_CLOSE_S = 1.0
_SOON_S = 1.0
_LONGER = "{}=... in the reference waits longer"
_TOO_BIG = 1009  # RFC 6455, section 7.4.1
_PASSING: dict[int, Passing] = {1001: "away", 1012: "away", 1013: "busy"}
"""Close codes for going away, a restart, and try again later (RFC 6455 and IANA's registry)."""

_PROXY_WITHOUT_SERVER = (502, 503, 504)


class RemoteError(Exception):
    """A policy server did not do what its protocol asks; one line that names the server.

    Attributes:
        passing: ``away``: nobody listens there now, as while a server restarts. ``busy``: it sends
            clients away, because all of its policy instances are taken. Empty: neither.
    """

    def __init__(self, line: str, passing: Passing = "") -> None:
        super().__init__(line)
        self.passing = passing


@dataclass(frozen=True)
class Address:
    """Where a server listens and how long it is waited for.

    Attributes:
        protocol: ``openpi`` or ``vla-eval``.
        host, port: Where it listens.
        path: Path of the URL, usually empty.
        tls: Speak ``wss``.
        connect_s: Longest wait for the connection, and again for the server's first words. openpi's
            server speaks to nobody while its model computes or compiles.
        reply_s: Longest wait for an answer to an observation, and before for the server to read it.
        max_mb: Largest message that is taken from the server.
        api_key_env: Environment variable that holds a key (openpi's ``Authorization: Api-Key``).
    """

    protocol: str
    host: str
    port: int
    path: str = ""
    tls: bool = False
    connect_s: float = 30.0
    reply_s: float = 60.0
    max_mb: float = 64.0
    api_key_env: str = ""

    @property
    def url(self) -> str:
        """Return the WebSocket URL."""
        return f"{'wss' if self.tls else 'ws'}://{self._place}{self.path}"

    @property
    def label(self) -> str:
        """Return how error lines name the server."""
        return self.as_protocol(self.protocol)

    def as_protocol(self, protocol: str) -> str:
        """Return the reference of a server at the same place that speaks ``protocol``."""
        return f"{protocol}://{self._place}"

    @property
    def _place(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class Connection:
    """An open connection; every method ends within its limit or raises ``RemoteError``."""

    def __init__(self, address: Address, websocket: ClientConnection, opened: ExitStack) -> None:
        self.address = address
        self._websocket = websocket
        self._opened = opened
        self._given_up = False

    @staticmethod
    def open(address: Address) -> Connection:
        """Connect to ``address``.

        Raises:
            RemoteError: Nothing listens there, it does not speak WebSocket, or it takes too long.
        """
        from websockets.exceptions import InvalidHandshake, InvalidStatus, WebSocketException
        from websockets.sync.client import connect

        opened = ExitStack()
        try:
            websocket: ClientConnection = opened.enter_context(
                connect(
                    address.url,
                    compression=None,
                    additional_headers=_headers(address),
                    proxy=None,  # robots and their servers share a network
                    open_timeout=address.connect_s,
                    close_timeout=_CLOSE_S,
                    ping_interval=None,  # a server that compiles its model may be deaf for a minute
                    max_size=int(address.max_mb * 1e6),
                )
            )
        except TimeoutError as error:
            line = (
                f"no connection within {address.connect_s:g} s (connect_s=... in the reference waits longer)"
            )
            raise trouble(address, line) from error
        except InvalidStatus as error:
            status = error.response.status_code
            passing: Passing = "away" if status in _PROXY_WITHOUT_SERVER else ""
            raise trouble(address, f"the server refuses the connection: HTTP {status}", passing) from error
        except (InvalidHandshake, WebSocketException, EOFError) as error:
            tls = "tls=false" if address.tls else "tls=true if it speaks wss"
            line = f"what listens there speaks no WebSocket ({_said(error)}); {tls}"
            raise trouble(address, line) from error
        except ssl.SSLError as error:
            raise trouble(address, _tls_line(error)) from error
        except OSError as error:
            said = error.strerror or _said(error)
            line = f"nothing listens there ({said}): start the server, or mend host and port"
            raise trouble(address, line, "away") from error
        except ValueError as error:
            raise trouble(address, f"no address to connect to ({_said(error)})") from error
        return Connection(address, websocket, opened)

    def send(self, message: bytes) -> None:
        """Send a binary message.

        Raises:
            RemoteError: The server closed the connection or does not read.
        """
        from websockets.exceptions import ConnectionClosed

        limit = threading.Timer(self.address.reply_s, self._give_up)
        limit.daemon = True
        limit.start()
        try:
            self._websocket.send(message)
        except ConnectionClosed as error:
            if self._given_up:
                line = f"the server did not read the observation within {self.address.reply_s:g} s"
                raise self.trouble(line) from error
            raise self._closed(error) from error
        finally:
            limit.cancel()

    def _give_up(self) -> None:
        """Wake a send that waits for a server which does not read; sockets have no limit that TLS keeps."""
        self._given_up = True
        with suppress(OSError):
            self._websocket.socket.shutdown(socket.SHUT_RDWR)

    @property
    def protocol(self) -> str:
        """The protocol that our own server says it speaks; empty: it does not say."""
        response = self._websocket.response
        return "" if response is None else response.headers.get(HEADER, "")

    def receive_first(self, meanwhile: Callable[[], None]) -> bytes | str:
        """Return the first message, as ``receive`` does; if it does not come soon, do ``meanwhile`` once.

        Raises:
            RemoteError: As ``receive``, or raised by ``meanwhile``.
        """
        limit_s = self.address.connect_s
        begun = time.monotonic()
        with suppress(TimeoutError):
            return self._received(min(_SOON_S, limit_s / 2))
        meanwhile()
        try:
            return self._received(max(begun + limit_s - time.monotonic(), 0.01))
        except TimeoutError as error:
            other = OTHER[self.address.protocol]
            line = (
                f"no answer within {limit_s:g} s ({_LONGER.format('connect_s')}; a server of {other} waits "
            )
            line += f"to be spoken to: {self.address.as_protocol(other)})"
            raise self.trouble(line) from error

    def receive(self, limit: Limit) -> bytes | str:
        """Return the next message: bytes, or a text (which is an error in both protocols).

        Args:
            limit: Field of ``Address`` with the longest wait for the whole message.

        Raises:
            RemoteError: It does not come in time, is too large, or the server closed the connection.
        """
        limit_s: float = getattr(self.address, limit)
        try:
            return self._received(limit_s)
        except TimeoutError as error:
            line = f"no answer within {limit_s:g} s ({_LONGER.format(limit)})"
            raise self.trouble(line) from error

    def _received(self, wait_s: float) -> bytes | str:
        from websockets.exceptions import ConnectionClosed

        try:
            return self._websocket.recv(timeout=wait_s)
        except TimeoutError as error:
            if self._refused_size():  # already given up, but the server does not hang up
                raise self._too_large() from error
            raise
        except ConnectionClosed as error:
            raise self._closed(error) from error
        except UnicodeDecodeError as error:
            raise self.trouble("the server sent a text frame that is no text") from error

    def unread(self) -> bytes | str | None:
        """Return a message that is there already, although nothing was asked; ``None``: there is none."""
        from websockets.exceptions import ConnectionClosed

        try:
            return self._websocket.recv(timeout=0)
        except (TimeoutError, ConnectionClosed, UnicodeDecodeError):
            return None  # a closed connection shows when something is sent

    def close(self) -> None:
        """Close the connection; never raises and never waits for long."""
        with suppress(OSError):
            self._opened.close()

    def trouble(self, line: str) -> RemoteError:
        """Return the error that says ``line`` of this server."""
        return trouble(self.address, line)

    def _refused_size(self) -> bool:
        """Return whether this side has closed because a message was too large."""
        sent = self._websocket.protocol.close_sent
        return sent is not None and sent.code == _TOO_BIG

    def _too_large(self) -> RemoteError:
        return self.trouble(f"the answer is larger than {self.address.max_mb:g} MB and was not read")

    def _closed(self, error: Exception) -> RemoteError:
        sent, received = getattr(error, "sent", None), getattr(error, "rcvd", None)
        if sent is not None and sent.code == _TOO_BIG:
            return self._too_large()
        if received is None:
            return self.trouble("the server broke the connection off")
        reason = f": {' '.join(received.reason.split())[:120]}" if received.reason else ""
        line = f"the server closed the connection (code {received.code}{reason})"
        return trouble(self.address, line, _PASSING.get(received.code, ""))


def _headers(address: Address) -> dict[str, str]:
    if not address.api_key_env:
        return {}
    key = os.environ.get(address.api_key_env)
    if not key:
        raise trouble(address, f"the environment variable {address.api_key_env} holds no key")
    return {"Authorization": f"Api-Key {key}"}


def _tls_line(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        said = error.verify_message.rstrip(".")
        return f"its certificate is not trusted ({said}); SSL_CERT_FILE can name a file of those that are"
    return f"no TLS is spoken there ({_said(error)}); without tls=true it is asked in plain"


def trouble(address: Address, line: str, passing: Passing = "") -> RemoteError:
    """Return the error that says ``line`` of the server there."""
    return RemoteError(f"{address.label}: {shown(line, 600)}.", passing)


def shown(text: str, longest: int) -> str:
    """Return the beginning of ``text``, fit for a terminal whoever wrote it."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:longest])


def _said(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text.rstrip(".")[:120]
