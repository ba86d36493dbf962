"""One WebSocket connection to a policy server; every wait and every size has a limit."""

from __future__ import annotations

import os
import struct
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from socket import SO_SNDTIMEO, SOL_SOCKET
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

_CLOSE_S = 1.0
_TOO_BIG = 1009  # RFC 6455, section 7.4.1


class RemoteError(Exception):
    """A policy server did not do what its protocol asks; one line that names the server."""


@dataclass(frozen=True)
class Address:
    """Where a server listens and how long it is waited for.

    Attributes:
        protocol: ``openpi`` or ``vla-eval``.
        host, port: Where it listens.
        path: Path of the URL, usually empty.
        tls: Speak ``wss``.
        connect_s: Longest wait for the connection, and again for the server's first words.
        reply_s: Longest wait for an answer to an observation.
        max_mb: Largest message that is taken from the server.
        api_key_env: Environment variable that holds a key (openpi's ``Authorization: Api-Key``).
    """

    protocol: str
    host: str
    port: int
    path: str = ""
    tls: bool = False
    connect_s: float = 10.0
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
        return f"{self.protocol}://{self._place}"

    @property
    def _place(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class Connection:
    """An open connection; every method ends within its limit or raises ``RemoteError``."""

    def __init__(self, address: Address, socket: ClientConnection, opened: ExitStack) -> None:
        self.address = address
        self._socket = socket
        self._opened = opened

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
            socket: ClientConnection = opened.enter_context(
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
            raise _trouble(
                address, f"no connection within {address.connect_s:g} s (connect_s=... waits longer)"
            ) from error
        except InvalidStatus as error:
            status = error.response.status_code
            raise _trouble(address, f"the server refuses the connection: HTTP {status}") from error
        except (InvalidHandshake, WebSocketException, EOFError) as error:
            raise _trouble(address, f"what listens there speaks no WebSocket ({_said(error)})") from error
        except OSError as error:
            said = error.strerror or _said(error)
            line = f"nothing listens there ({said}): start the server, or mend host and port"
            raise _trouble(address, line) from error
        except ValueError as error:
            raise _trouble(address, f"no address to connect to ({_said(error)})") from error
        limit = struct.pack("ll", int(address.reply_s), int(address.reply_s % 1 * 1e6))
        with suppress(OSError):  # closed again already, which shows as soon as something is received
            socket.socket.setsockopt(SOL_SOCKET, SO_SNDTIMEO, limit)  # a server that never reads
        return Connection(address, socket, opened)

    def send(self, message: bytes) -> None:
        """Send a binary message.

        Raises:
            RemoteError: The server closed the connection or does not read.
        """
        from websockets.exceptions import ConnectionClosed

        try:
            self._socket.send(message)
        except ConnectionClosed as error:
            if isinstance(error.__cause__, BlockingIOError):
                line = f"the server did not read the observation within {self.address.reply_s:g} s"
                raise self.trouble(line) from error
            raise self._closed(error) from error

    def receive(self, limit_s: float) -> bytes | str:
        """Return the next message: bytes, or a text (which is an error in both protocols).

        Args:
            limit_s: Longest wait for the whole message.

        Raises:
            RemoteError: It does not come in time, is too large, or the server closed the connection.
        """
        from websockets.exceptions import ConnectionClosed

        try:
            return self._socket.recv(timeout=limit_s)
        except TimeoutError as error:
            if self._refused_size():  # already given up, but the server does not hang up
                raise self._too_large() from error
            raise self.trouble(
                f"no answer within {limit_s:g} s (reply_s=... in the reference waits longer)"
            ) from error
        except ConnectionClosed as error:
            raise self._closed(error) from error
        except UnicodeDecodeError as error:
            raise self.trouble("the server sent a text frame that is no text") from error

    def unread(self) -> bytes | str | None:
        """Return a message that is there already, although nothing was asked; ``None``: there is none."""
        from websockets.exceptions import ConnectionClosed

        try:
            return self._socket.recv(timeout=0)
        except (TimeoutError, ConnectionClosed, UnicodeDecodeError):
            return None  # a closed connection shows when something is sent

    def close(self) -> None:
        """Close the connection; never raises and never waits for long."""
        with suppress(OSError):
            self._opened.close()

    def trouble(self, line: str) -> RemoteError:
        """Return the error that says ``line`` of this server."""
        return _trouble(self.address, line)

    def _refused_size(self) -> bool:
        """Return whether this side has closed because a message was too large."""
        sent = self._socket.protocol.close_sent
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
        return self.trouble(f"the server closed the connection (code {received.code}{reason})")


def _headers(address: Address) -> dict[str, str]:
    if not address.api_key_env:
        return {}
    key = os.environ.get(address.api_key_env)
    if not key:
        raise _trouble(address, f"the environment variable {address.api_key_env} holds no key")
    return {"Authorization": f"Api-Key {key}"}


def _trouble(address: Address, line: str) -> RemoteError:
    return RemoteError(f"{address.label}: {line}.")


def _said(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text.rstrip(".")[:120]
