"""Clients that break the protocol or hold on to the server: they are told, and the next client is well."""

import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import msgpack
import numpy as np
import pytest
from rollout_doubles import DoubleWorld, cases
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from heedful.policies.references import load
from heedful.policies.remote.arrays import pack, unpack
from heedful.rollouts.loop import run_episode
from heedful.spec.case import Episode, PolicyEntry
from heedful.spec.errors import UserError
from heedful.workflows import serving as workflow
from heedful.workflows.serving import serving

Hosted = Callable[..., int]


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def silent() -> Iterator[ExitStack]:
    """Hold connections until the servers have been stopped."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def hosted(silent: ExitStack, told: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosted]:
    """Return what serves the double over openpi's protocol to one client at a time and returns its port."""
    monkeypatch.setattr(workflow, "_WAIT_FOR_INSTANCE_S", 0.2)
    servers = []

    def start(clients: int = 1) -> int:
        server = serving("python:remote_doubles:make", "openpi", port=0, clients=clients, tell=told.append)
        threading.Thread(target=server.serve, daemon=True).start()
        servers.append(server)
        return server.port

    yield start
    for server in servers:
        assert server.stop()


def is_well(port: int) -> bool:
    """Return whether an honest client can play an episode."""
    policy = load(f"openpi://127.0.0.1:{port}")
    row, _ = run_episode(DoubleWorld(), policy, Episode(cases(1)[0], PolicyEntry("x", "x")))
    return row.status == "finished"


def array(dtype: str, shape: list[int], data: bytes = b"") -> dict[bytes, object]:
    return {b"__ndarray__": True, b"data": data, b"dtype": dtype, b"shape": shape}


ASKED = {
    "garbage": (b"GET / HTTP/1.1\r\n" * 50, "is no valid msgpack|is a int"),
    "objects": (msgpack.packb({"prompt": "red", "x": array("|O", [1], b"cos")}), "only numbers are taken"),
    "a shape of exabytes": (msgpack.packb({"x": array("<f8", [2**40, 2**20])}), "in 0 bytes"),
    "an array that is empty in one direction": (
        msgpack.packb({"prompt": "red", "observation/agent": array("|u1", [0, 2**62, 2**62])}),
        "is no valid msgpack",
    ),
    "a million maps": (
        b"\x81\xa1a\xdd" + (10**6).to_bytes(4, "big") + b"\x80" * 10**6,
        "is no valid msgpack",
    ),
    "lists in lists": (b"\x81\xa1a" + b"\x91" * 10**5, "is no valid msgpack"),
    "a long instruction": (msgpack.packb({"prompt": "red " * 10**6}), "4000000 letters; 10000 are the most"),
    "a terminal's commands": (
        msgpack.packb({"prompt": "red", "\x1b[2J" * 10**5: 1}),
        r"observation/agent is missing; found \?\[2J",
    ),
}


@pytest.mark.parametrize(("message", "said"), ASKED.values(), ids=list(ASKED))
def test_what_is_no_observation_is_one_short_line_for_both_sides(
    hosted: Hosted, told: list[str], message: bytes, said: str
) -> None:
    port = hosted()
    with connect(f"ws://127.0.0.1:{port}") as client:
        client.recv()
        client.send(message)
        answer = client.recv(timeout=5)
        assert isinstance(answer, str) and len(answer) < 400
        with pytest.raises(ConnectionClosed):
            client.recv(timeout=5)
    (line,) = told
    assert line.isprintable() and len(line) < 400
    assert re.search(said, line), line
    assert is_well(port)


def test_a_frame_of_a_gigabyte_is_refused_when_it_is_announced(hosted: Hosted) -> None:
    port = hosted()
    with connect(f"ws://127.0.0.1:{port}") as client:
        client.recv()
        client.socket.sendall(b"\x82\xff" + struct.pack(">Q", 2**30) + bytes(1000))
        with pytest.raises(ConnectionClosed) as closed:
            client.recv(timeout=5)
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009
    assert is_well(port)


def test_a_hundred_connections_that_say_nothing_do_not_stop_it(hosted: Hosted) -> None:
    port = hosted(clients=2)
    with ExitStack() as open_ones:
        holder = open_ones.enter_context(connect(f"ws://127.0.0.1:{port}"))
        holder.recv()
        for count in range(100):
            stranger = open_ones.enter_context(socket.create_connection(("127.0.0.1", port)))
            stranger.sendall([b"", b"GET / HTTP/1.1\r\n", b"\x16\x03\x01", bytes(99)][count % 4])
        assert is_well(port)
    assert is_well(port)


def test_who_finds_no_free_instance_is_told_so(hosted: Hosted, told: list[str]) -> None:
    port = hosted()
    with connect(f"ws://127.0.0.1:{port}") as holder:
        holder.recv()
        with pytest.raises(
            UserError, match="code 1013: all policy instances are busy .heedful serve --clients"
        ):
            load(f"openpi://127.0.0.1:{port}?connect_s=1")
    assert set(told) == {"a client was sent away: all policy instances are busy (heedful serve --clients)"}
    assert is_well(port)


def test_a_client_that_leaves_in_the_middle_of_a_look_is_nobodys_trouble(
    hosted: Hosted, told: list[str]
) -> None:
    port = hosted()
    policy = load(f"openpi://127.0.0.1:{port}")
    sizes = {key: (c.height_px, c.width_px, 3) for key, c in policy.conventions.cameras.items()}
    observation = {key: np.zeros(size, np.uint8) for key, size in sizes.items()}
    message = pack({**observation, "observation/state": np.zeros(16), "prompt": "red"}, "openpi")
    for _ in range(20):
        with connect(f"ws://127.0.0.1:{port}") as client:
            assert "heedful" in unpack(client.recv(timeout=5), "openpi")
            client.send(message)
            client.socket.shutdown(socket.SHUT_RDWR)
    assert is_well(port)
    assert told == []


def test_stopping_does_not_wait_for_clients_that_say_nothing(hosted: Hosted, silent: ExitStack) -> None:
    port = hosted(clients=3)
    for _ in range(3):
        silent.enter_context(connect(f"ws://127.0.0.1:{port}")).recv()
