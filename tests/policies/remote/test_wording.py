"""The instruction of a row is the one on the wire, and who changes it is caught wherever it can be seen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hostile_servers import GOOD, answering
from rollout_doubles import DoubleWorld, cases
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection

from heedful.policies.references import load
from heedful.policies.remote import arrays, sessions
from heedful.policies.remote.arrays import Coding
from heedful.rollouts.loop import run_episode
from heedful.spec.case import Episode, PolicyEntry
from heedful.spec.rollout import EpisodeRow
from heedful.spec.seams import Policy
from heedful.workflows.serving import serving

Start = Callable[..., int]
PROTOCOLS: tuple[Coding, ...] = ("openpi", "vla-eval")


@pytest.fixture
def hosted() -> Iterator[Callable[[str], int]]:
    """Return what serves the double over a protocol and returns the port."""
    servers = []

    def start(protocol: str) -> int:
        server = serving("python:remote_doubles:make", protocol, port=0)
        threading.Thread(target=server.serve, daemon=True).start()
        servers.append(server)
        return server.port

    yield start
    for server in servers:
        assert server.stop()


def row(policy: Policy) -> EpisodeRow:
    return run_episode(DoubleWorld(), policy, Episode(cases(1)[0], PolicyEntry("x", "x")))[0]


def rewording(port: int, coding: Coding) -> Callable[[ServerConnection], None]:
    """Return a proxy in front of ``port`` that makes red blue in everything the client says."""

    def handle(client: ServerConnection) -> None:
        with connect(f"ws://127.0.0.1:{port}", compression=None, max_size=None) as server:
            if coding == "openpi":
                client.send(server.recv())
            for message in client:
                asked = arrays.unpack(message, coding)
                answered = coding == "openpi" or asked["type"] != "episode_start"
                server.send(arrays.pack(_reworded(asked), coding))
                if answered:
                    client.send(server.recv())

    return handle


def _reworded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reworded(of) for key, of in value.items()}
    return "blue" if isinstance(value, str) and value == "red" else value


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_row_has_the_words_that_went_out(hosted: Callable[[str], int], protocol: str) -> None:
    found = row(load(f"{protocol}://127.0.0.1:{hosted(protocol)}"))
    assert (found.status, found.instruction_received) == ("finished", "red")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_our_own_server_repeats_the_words_so_that_a_change_in_transit_is_caught(
    hosted: Callable[[str], int], websocket_server: Start, protocol: Coding
) -> None:
    port = websocket_server(rewording(hosted(protocol), protocol), max_size=None)
    found = row(load(f"{protocol}://127.0.0.1:{port}"))
    assert found.status == "crashed"
    assert "the instruction on the wire is 'blue', but the case says 'red'" in found.error


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("at", ["reset", "act"])
def test_a_changed_encoder_is_caught_with_any_server(
    hosted: Callable[[str], int], protocol: str, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = load(f"{protocol}://127.0.0.1:{hosted(protocol)}")
    pack = arrays.pack

    def changed(message: Any, coding: Coding) -> bytes:
        observation = len(message) > 2 and message.get("type", "observation") == "observation"
        return pack(_reworded(message) if observation == (at == "act") else message, coding)

    monkeypatch.setattr(sessions.arrays, "pack", changed)
    found = row(policy)
    assert found.error.startswith(f"policy.{at}")
    assert "the instruction on the wire is 'blue', but the case says 'red'" in found.error


def test_a_server_that_is_not_ours_gets_the_words_and_nothing_that_its_protocol_lacks(
    websocket_server: Start,
) -> None:
    seen: list[dict[Any, Any]] = []
    well = answering({"actions": GOOD})

    class Recorded:
        def __init__(self, connection: ServerConnection) -> None:
            self.connection = connection
            self.send = connection.send

        def __iter__(self) -> Iterator[Any]:
            for message in self.connection:
                seen.append(arrays.unpack(message, "openpi"))
                yield message

    port = websocket_server(lambda connection: well(Recorded(connection)), max_size=None)  # type: ignore[arg-type]
    assert row(load(f"openpi://127.0.0.1:{port}?preset=openpi-libero")).status == "finished"
    assert {message["prompt"] for message in seen} == {"red"}
    assert set(seen[0]) == {
        "observation/image",
        "observation/wrist_image",
        "observation/state",
        "prompt",
    }
