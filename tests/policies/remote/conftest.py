"""Servers that run in threads of the test, and a quick world to meet them in."""

import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.server import ServerConnection, serve

import heedful.policies.remote

for folder in (Path(__file__).parent, Path(__file__).parents[2] / "rollouts"):
    sys.path.append(str(folder))  # the doubles; at import, as the test modules import them when collected

Handler = Callable[[ServerConnection], None]
Start = Callable[..., int]


@pytest.fixture
def websocket_server() -> Iterator[Start]:
    """Return what starts a server with a handler and returns its port."""
    with ExitStack() as running:

        def start(handler: Handler, **options: Any) -> int:
            def quiet(connection: ServerConnection) -> None:
                try:
                    handler(connection)
                except Exception:  # a client that leaves a hostile server
                    return

            server = serve(quiet, "127.0.0.1", 0, compression=None, close_timeout=0.2, **options)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            running.callback(server.shutdown)
            return int(server.socket.getsockname()[1])

        yield start


@pytest.fixture
def raw_server() -> Iterator[Start]:
    """Return what starts a TCP server with a handler of one socket and returns its port."""
    with ExitStack() as running:

        def start(handler: Callable[[socket.socket], None]) -> int:
            listening = running.enter_context(socket.create_server(("127.0.0.1", 0)))

            def accept() -> None:
                while True:
                    try:
                        connection, _ = listening.accept()
                    except OSError:
                        return
                    threading.Thread(target=handle, args=(connection,), daemon=True).start()

            def handle(connection: socket.socket) -> None:
                with closing(connection), suppress(OSError):
                    handler(connection)

            thread = threading.Thread(target=accept, daemon=True)
            thread.start()
            running.callback(thread.join)
            # Closing alone does not wake the thread: it would go on listening and, where the system
            # restarts its call, take a connection of whatever has got the same descriptor since.
            running.callback(listening.shutdown, socket.SHUT_RDWR)
            return int(listening.getsockname()[1])

        yield start


@pytest.fixture
def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture(autouse=True)
def _no_server_is_remembered() -> None:
    heedful.policies.remote._greetings.clear()
