"""A server that is away for a moment or busy is waited for, once; a dead one costs one wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hostile_servers import GOOD, answering, in_turn
from websockets.sync.server import ServerConnection, serve

from heedful.policies.references import load
from heedful.policies.remote import patience
from heedful.policies.remote.connection import RemoteError
from heedful.spec.errors import UserError
from heedful.spec.seams import Start as EpisodeStart

Start = Callable[..., int]
START = EpisodeStart("red")
WELL = answering({"actions": GOOD})


@pytest.fixture(autouse=True)
def _nobody_is_given_up() -> Iterator[None]:
    patience._given_up.clear()
    yield
    patience._given_up.clear()


@pytest.fixture
def restarting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], Callable[[], None]]]:
    """Return what starts a server at a port, and returns what stops it again."""
    with ExitStack() as running:

        def start(port: int) -> Callable[[], None]:
            server = serve(WELL, "127.0.0.1", port, compression=None, close_timeout=0.2)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            running.callback(server.shutdown)
            return server.shutdown

        yield start


def pauses(
    monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[int], Any] = lambda count: None
) -> list[float]:
    """Have ``meanwhile`` done with the number of each pause instead of waiting; return the pauses."""
    found: list[float] = []

    def pause(seconds: float) -> None:
        found.append(seconds)
        meanwhile(len(found))

    monkeypatch.setattr(patience, "_pause", pause)
    return found


def test_a_server_that_restarts_costs_nothing(
    restarting: Callable[[int], Callable[[], None]], unused_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = restarting(unused_port)
    policy = load(f"openpi://127.0.0.1:{unused_port}?preset=openpi-libero")
    stop()
    waited = pauses(monkeypatch, lambda count: restarting(unused_port) if count == 3 else None)
    assert policy.reset(START) == "red"
    assert len(waited) == 3


def test_a_dead_server_is_waited_for_once_and_again_only_after_it_has_answered(
    restarting: Callable[[int], Callable[[], None]], unused_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = restarting(unused_port)
    ref = f"openpi://127.0.0.1:{unused_port}?preset=openpi-libero&connect_s=0.05"
    policy = load(ref)
    stop()
    waited = pauses(monkeypatch)
    with pytest.raises(RemoteError, match="nothing listens there .Connection refused."):
        policy.reset(START)
    assert waited and max(waited) <= 0.05
    for again in (policy, load(ref)):  # an episode that crashed has its policy made again
        waited.clear()
        with pytest.raises(RemoteError, match="nothing listens there"):
            again.reset(START)
        assert not waited
    stop = restarting(unused_port)
    policy.reset(START)
    stop()
    with pytest.raises(RemoteError, match="nothing listens there"):
        policy.reset(START)
    assert waited


def test_who_was_never_there_is_not_waited_for(unused_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    waited = pauses(monkeypatch)
    with pytest.raises(UserError, match="nothing listens there"):
        load(f"openpi://127.0.0.1:{unused_port}?preset=openpi-libero")
    assert not waited


@pytest.mark.parametrize("code", [1001, 1012, 1013])
def test_a_server_that_sends_away_for_now_is_asked_again(
    websocket_server: Start, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(connection: ServerConnection) -> None:
        connection.close(code, "not now")

    waited = pauses(monkeypatch)
    first = [away] if code == 1013 else []  # a busy server is waited for before it was ever met, too
    handlers = in_turn(*first, WELL, away, away, WELL)
    policy = load(f"openpi://127.0.0.1:{websocket_server(handlers)}?preset=openpi-libero")
    assert len(waited) == len(first)
    policy.reset(START)
    assert len(waited) == len(first) + 2


@pytest.mark.parametrize("code", [1000, 1011])
def test_any_other_end_is_the_servers_last_word(
    websocket_server: Start, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = pauses(monkeypatch)
    handlers = in_turn(WELL, lambda connection: connection.close(code, "no"), WELL)
    policy = load(f"openpi://127.0.0.1:{websocket_server(handlers)}?preset=openpi-libero")
    with pytest.raises(RemoteError, match=f"code {code}"):
        policy.reset(START)
    assert not waited
