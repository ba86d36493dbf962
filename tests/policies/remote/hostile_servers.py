"""Servers of openpi's protocol that break it in one way each."""

from __future__ import annotations

import base64
import hashlib
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np
from websockets.sync.server import ServerConnection

from heedful.policies.remote.arrays import pack

GOOD = np.tile([0.0, 0.0, 0.01, 0.0, 0.0, 0.0, -1.0], (10, 1))
"""A chunk in LIBERO's terms: up a little, gripper open."""

EMPTY_MAP = msgpack.packb({})
NEVER = threading.Event()
"""Set at the end of a test, so that no thread waits longer."""


def answering(*replies: Any, metadata: Any = None) -> Callable[[ServerConnection], None]:
    """Return a handler that gives ``replies`` in turn, the last one again and again.

    A reply is bytes or a text as they are, an exception to raise, or a map to be packed.
    """

    def handle(connection: ServerConnection) -> None:
        connection.send(pack({} if metadata is None else metadata, "openpi"))
        for count, _ in enumerate(connection):
            reply = replies[min(count, len(replies) - 1)]
            if isinstance(reply, Exception):
                raise reply
            connection.send(reply if isinstance(reply, bytes | str) else pack(reply, "openpi"))

    return handle


def in_turn(*handlers: Callable[[ServerConnection], None]) -> Callable[[ServerConnection], None]:
    """Return a handler that is one of ``handlers`` for each connection; the last one from then on."""
    left = list(handlers)

    def handle(connection: ServerConnection) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(connection)

    return handle


def silent(connection: ServerConnection) -> None:
    """Greet, read everything and never answer."""
    connection.send(pack({}, "openpi"))
    for _ in connection:
        pass


def mute(connection: ServerConnection) -> None:
    """Do not even greet."""
    for _ in connection:
        pass


def late(asked: threading.Event) -> Callable[[ServerConnection], None]:
    """Return a handler that answers once ``asked`` is set, long after it was asked."""

    def handle(connection: ServerConnection) -> None:
        connection.send(pack({}, "openpi"))
        connection.recv()
        asked.wait(30)
        connection.send(pack({"actions": GOOD}, "openpi"))

    return handle


def twice(connection: ServerConnection) -> None:
    """Answer everything two times."""
    connection.send(pack({}, "openpi"))
    for _ in connection:
        connection.send(pack({"actions": GOOD}, "openpi"))
        connection.send(pack({"actions": GOOD}, "openpi"))


def closing_after(count: int) -> Callable[[ServerConnection], None]:
    """Return a handler that answers ``count`` observations and then closes the connection."""

    def handle(connection: ServerConnection) -> None:
        connection.send(pack({}, "openpi"))
        for _ in range(count):
            connection.recv()
            connection.send(pack({"actions": GOOD}, "openpi"))
        connection.recv()
        connection.close(1011, "out of memory")

    return handle


def streaming(megabytes: int) -> Callable[[ServerConnection], None]:
    """Return a handler that answers with one endless message, in fragments of a megabyte."""

    def handle(connection: ServerConnection) -> None:
        connection.send(pack({}, "openpi"))
        connection.recv()
        connection.send(bytes(10**6) for _ in range(megabytes))

    return handle


def upgraded(connection: socket.socket) -> None:
    """Answer a WebSocket handshake by hand."""
    request = b""
    while not request.endswith(b"\r\n\r\n"):
        request += connection.recv(4096)
    key = next(
        line.split(b": ")[1]
        for line in request.split(b"\r\n")
        if line.lower().startswith(b"sec-websocket-key")
    )
    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    connection.sendall(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
    )
    connection.sendall(b"\x82" + bytes([len(EMPTY_MAP)]) + EMPTY_MAP)


def announcing_a_gigabyte(connection: socket.socket) -> None:
    """Greet, answer with the beginning of a frame of 2**30 bytes, and read until the client goes."""
    upgraded(connection)
    connection.recv(64)
    connection.sendall(b"\x82\x7f" + struct.pack(">Q", 2**30) + bytes(1000))
    while connection.recv(65536):  # closing with something unread would reset the connection
        pass


def never_reading(connection: socket.socket) -> None:
    """Greet and never read again."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    upgraded(connection)
    connection.settimeout(30)
    NEVER.wait(30)


def reading_in_drips(connection: socket.socket) -> None:
    """Greet and read so slowly that something is always being read."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    upgraded(connection)
    while not NEVER.wait(0.1):
        connection.recv(2000)


def answering_in_drips(connection: socket.socket) -> None:
    """Greet and send a message in fragments of one byte that never ends."""
    upgraded(connection)
    connection.sendall(b"\x02\x01a")
    while not NEVER.wait(0.01):
        connection.sendall(b"\x00\x01a")


def no_websocket(connection: socket.socket) -> None:
    """Answer like a web server."""
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")


def no_http(connection: socket.socket) -> None:
    """Answer like something else."""
    connection.recv(4096)
    connection.sendall(b"220 mail.example.org ESMTP\r\n")


def accepting_only(connection: socket.socket) -> None:
    """Accept the connection and say nothing."""
    NEVER.wait(30)
