"""A server asked in the other protocol: the line names the right one, and nobody waits for half a minute."""

from __future__ import annotations

import http
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hostile_servers import GOOD, answering, mute

from heedful.policies.references import load
from heedful.policies.remote import connection
from heedful.spec.errors import UserError
from heedful.workflows.serving import serving

Start = Callable[..., int]


@pytest.fixture
def hosted() -> Iterator[Callable[[str], int]]:
    with ExitStack() as running:

        def start(protocol: str) -> int:
            server = serving("python:remote_doubles:make", protocol, port=0)
            threading.Thread(target=server.serve, daemon=True).start()
            running.callback(server.stop)
            return server.port

        yield start


@pytest.mark.parametrize(("asked", "spoken"), [("openpi", "vla-eval"), ("vla-eval", "openpi")])
def test_our_own_server_says_in_the_handshake_what_it_speaks(
    hosted: Callable[[str], int], asked: str, spoken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection.Connection, "receive_first", None)  # nothing is waited for
    port = hosted(spoken)
    said = f"what listens there speaks {spoken}, not {asked}: write {spoken}://127.0.0.1:{port}"
    with pytest.raises(UserError, match=said):
        load(f"{asked}://127.0.0.1:{port}")


def health(path: str) -> Callable[[Any, Any], Any]:
    return lambda connection, request: (
        connection.respond(http.HTTPStatus.OK, "OK") if request.path == path else None
    )


def test_a_foreign_server_of_vla_eval_is_known_by_its_health_page(websocket_server: Start) -> None:
    port = websocket_server(mute, process_request=health("/health"))
    said = f"what listens there speaks vla-eval, not openpi: write vla-eval://127.0.0.1:{port}"
    with pytest.raises(UserError, match=said):
        load(f"openpi://127.0.0.1:{port}?preset=openpi-libero&connect_s=0.2")


@pytest.mark.parametrize("page", ["/healthz", "/nothing"])
def test_a_silent_server_may_speak_the_other_one(websocket_server: Start, page: str) -> None:
    port = websocket_server(mute, process_request=health(page))
    said = f"no answer within 0.2 s .*a server of vla-eval waits to be spoken to: vla-eval://127.0.0.1:{port}"
    with pytest.raises(UserError, match=said):
        load(f"openpi://127.0.0.1:{port}?preset=openpi-libero&connect_s=0.2")


def test_a_foreign_server_of_openpi_is_known_by_its_first_words(websocket_server: Start) -> None:
    port = websocket_server(answering({"actions": GOOD}, metadata={"model": "pi"}))
    said = f"what listens there speaks openpi, not vla-eval: write openpi://127.0.0.1:{port}"
    with pytest.raises(UserError, match=said):
        load(f"vla-eval://127.0.0.1:{port}")
