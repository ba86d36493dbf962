"""The server: connections come and go, each with a policy instance of its own."""

from __future__ import annotations

import http
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from heedful.policies.conventions.model import Conventions
from heedful.policies.remote.arrays import Coding
from heedful.policies.remote.hosted import HostedPolicy
from heedful.policies.remote.hosts import HOSTS, Told
from heedful.policies.remote.listening import listening
from heedful.policies.remote.protocols import HEADER
from heedful.spec.errors import UserError
from heedful.spec.seams import Policy

if TYPE_CHECKING:
    from websockets.http11 import Request, Response
    from websockets.sync.server import ServerConnection

_SPARE_BYTES = 16_000_000
"""Beside the pictures: what a stranger sends that the policy does not look at."""

HEALTH_PATHS = {"/healthz": ("text/plain", "OK\n"), "/health": ("application/json", '{"status": "ok"}\n')}
"""Where openpi's and vla-eval's users ask whether the server is ready, and what they are told."""

_GOING_AWAY, _TRY_AGAIN_LATER = 1001, 1013
_CLOSE_S = 1.0
_LOOK_S = 0.5
_REST_S = 15.0
"""A client of ours that has asked nothing for so long is between episodes, or its run is at its end: no
chunk of actions takes longer. Its instance goes to whoever waits for one."""

_RESTED = "another client needed the policy instance, and nothing was asked for {:g} s"
_BUSY = "all policy instances are busy (heedful serve --clients)"


class Instances:
    """Policy instances, each used by one client at a time."""

    def __init__(self, first: Policy, make: Callable[[], Policy], limit: int, wait_s: float) -> None:
        self._idle = [first]
        self._make = make
        self._wait_s = wait_s
        self._free = threading.BoundedSemaphore(limit)
        self._lock = threading.Lock()

    @contextmanager
    def borrowed(self, make_room: Callable[[], None]) -> Iterator[Policy | None]:
        """Yield an instance, made if none is idle; ``None`` if all stay busy for too long.

        Args:
            make_room: Called now and then while all are busy; may have one returned.
        """
        until = time.monotonic() + self._wait_s
        while not self._free.acquire(timeout=max(min(_LOOK_S, until - time.monotonic()), 0)):
            if time.monotonic() >= until:
                yield None
                return
            make_room()
        try:
            with self._lock:
                idle = self._idle.pop() if self._idle else None
            policy = self._make() if idle is None else idle
            try:
                yield policy
            finally:  # every episode begins with a reset, so whatever happened is over
                with self._lock:
                    self._idle.append(policy)
        finally:
            self._free.release()


class PolicyServer:
    """Serves one kind of policy over one protocol; ``serve`` blocks until ``stop`` is called.

    Args:
        protocol: Whose words are spoken.
        conventions: What the pictures, states and actions of the policy are.
        offer: What the server says of itself under ``announcement.KEY``.
        instances: The policies.
        host, port: Where to listen; port 0: one that is free.
        tell: Told one line about everything that goes wrong with a client.

    Raises:
        UserError: Nothing can listen there.
    """

    def __init__(
        self,
        protocol: Coding,
        conventions: Conventions,
        offer: Mapping[str, Any],
        instances: Instances,
        host: str,
        port: int,
        tell: Told,
    ) -> None:
        from websockets.sync.server import serve

        self._host_client = HOSTS[protocol]
        self._conventions, self._offer, self._instances, self._tell = conventions, offer, instances, tell
        try:
            self._server = serve(
                self._handle,
                sock=listening(host, port),
                compression=None,
                max_size=2 * _picture_bytes(conventions) + _SPARE_BYTES,
                max_queue=1,  # what lies unread for a hundred clients is memory
                process_request=_health,
                process_response=_naming(protocol),
                ping_interval=None,
                close_timeout=_CLOSE_S,
                logger=_quiet(),
            )
        except (OSError, OverflowError) as error:
            said = getattr(error, "strerror", None) or str(error)
            raise UserError(f"Cannot listen on {host}:{port}: {said}.") from error
        self.port: int = self._server.socket.getsockname()[1]
        self._open: set[ServerConnection] = set()
        self._hosted: dict[ServerConnection, HostedPolicy] = {}
        self._stopping = False

    def serve(self) -> None:
        """Serve until ``stop``."""
        self._server.serve_forever()

    def stop(self, wait_s: float = 5.0) -> bool:
        """Take no more clients, send those away that are there, and return whether all of them left in time.

        Must not be called from the thread that serves.
        """
        ending = threading.Thread(target=self._end, daemon=True)
        ending.start()
        ending.join(wait_s)
        return not ending.is_alive()

    def _end(self) -> None:
        self._stopping = True
        for client in list(self._open):  # websockets before 17 waits for clients to leave by themselves
            threading.Thread(target=client.close, args=(_GOING_AWAY,), daemon=True).start()
        self._server.shutdown()

    def _handle(self, client: ServerConnection) -> None:
        from websockets.exceptions import ConnectionClosed

        _notice_the_dead(client.socket)
        self._open.add(client)
        try:
            if self._stopping:
                return
            with self._instances.borrowed(self._make_room) as policy:
                if policy is None:
                    self._tell(f"a client was sent away: {_BUSY}")
                    client.close(_TRY_AGAIN_LATER, _BUSY)
                    return
                hosted = self._hosted[client] = HostedPolicy(policy, self._conventions)
                self._host_client(client, hosted, self._offer, self._tell)
        except ConnectionClosed:
            return  # it left while it was spoken to
        except Exception as error:  # one client's trouble is not the next one's
            self._tell(f"{type(error).__name__}: {' '.join(str(error).split())}")
            client.close(1011, "the policy cannot be made")
        finally:
            self._open.discard(client)
            self._hosted.pop(client, None)

    def _make_room(self) -> None:
        """Send away the client of ours that has rested longest, if that is long enough."""
        resting = [(h.resting_since, c) for c, h in list(self._hosted.items()) if h.resting_since is not None]
        since, client = min(resting, key=lambda one: one[0], default=(None, None))
        if since is not None and client is not None and time.monotonic() - since >= _REST_S:
            self._hosted.pop(client, None)
            client.close(_GOING_AWAY, _RESTED.format(_REST_S))


def _notice_the_dead(client: socket.socket) -> None:
    """Let go of a client whose machine is gone within a minute or two: it holds a policy instance."""
    with suppress(OSError):  # it has left already
        client.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10)):
            if hasattr(socket, name):
                client.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _picture_bytes(conventions: Conventions) -> int:
    return sum(3 * camera.height_px * camera.width_px for camera in conventions.cameras.values())


def _health(connection: ServerConnection, request: Request) -> Response | None:
    known = HEALTH_PATHS.get(request.path.partition("?")[0])
    if known is None:
        return None  # on with the WebSocket handshake
    response = connection.respond(http.HTTPStatus.OK, known[1])
    del response.headers["Content-Type"]
    response.headers["Content-Type"] = known[0]
    return response


def _naming(protocol: str) -> Callable[[ServerConnection, Request, Response], None]:
    """Return what says in every handshake which protocol is spoken, for clients that took the other one."""

    def name(connection: ServerConnection, request: Request, response: Response) -> None:
        response.headers[HEADER] = protocol

    return name


def _quiet() -> Any:
    """Return a logger that keeps handshakes of strangers off standard error."""
    import logging

    logger = logging.getLogger("heedful.policies.remote.server")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger
