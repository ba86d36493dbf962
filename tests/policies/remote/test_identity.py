"""What tells one served policy from another, and what a server says of the policy it serves."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hostile_servers import GOOD, answering, in_turn

from heedful.policies.references import load
from heedful.policies.remote.announcement import Served, announcement, conventions_for, served
from heedful.policies.remote.connection import RemoteError
from heedful.policies.remote.policy import RemotePolicy
from heedful.policies.remote.server import PolicyServer
from heedful.spec.contract import CameraContract, PolicyContract
from heedful.spec.seams import Start as EpisodeStart
from heedful.workflows.serving import serving

Start = Callable[..., int]
CONTRACT = PolicyContract((CameraContract("agent", 32, 32),), "ee_absolute", 20.0)
OURS = conventions_for(CONTRACT, "openpi")
ONE = Served("reference:co", "0123456789ab", 7, 4, True)


def handler(said: Any) -> Any:
    metadata = (
        {} if said is None else {"heedful": said if isinstance(said, dict) else announcement(OURS, said)}
    )
    return answering({"actions": GOOD}, metadata=metadata)


def policy(websocket_server: Start, said: Any, query: str = "") -> RemotePolicy:
    found = load(f"openpi://127.0.0.1:{websocket_server(handler(said))}{query}")
    assert isinstance(found, RemotePolicy)
    return found


def test_a_server_says_which_policy_it_serves(websocket_server: Start) -> None:
    found = policy(websocket_server, ONE)
    assert found.greeting.served == ONE
    assert (found.training_seed, found.ignores_words) == (7, True)
    assert len(found.identity) == 12 and set(found.identity) <= set("0123456789abcdef")


def test_the_identity_changes_with_what_is_served_and_what_its_numbers_mean_and_with_nothing_else(
    websocket_server: Start,
) -> None:
    same = {policy(websocket_server, said).identity for said in (ONE, ONE, replace(ONE, clients=9))}
    same.add(policy(websocket_server, ONE, "?connect_s=9&reply_s=8&max_mb=7").identity)
    assert len(same) == 1
    others = [
        replace(ONE, policy="reference:other"),
        replace(ONE, digest="ba9876543210"),
        Served("reference:co"),
    ]
    found = [policy(websocket_server, said).identity for said in others]
    found += [policy(websocket_server, ONE, f"?{query}").identity for query in ("replan=1", "chunk=10")]
    libero = [
        "",
        "&flip=both",
        "&gripper=close_negative",
        "&scale_m=1",
        "&clip=false",
        "&rate=10",
        "&size=96",
    ]
    found += [policy(websocket_server, None, f"?preset=openpi-libero{more}").identity for more in libero]
    assert len({*found, *same}) == len(found) + 1


@pytest.mark.parametrize(
    "other", [replace(ONE, digest="ba9876543210"), replace(ONE, policy="reference:other"), Served(), None]
)
def test_another_policy_at_the_same_address_is_refused(websocket_server: Start, other: Any) -> None:
    port = websocket_server(in_turn(handler(ONE), handler(ONE), handler(other)))
    found = load(f"openpi://127.0.0.1:{port}")
    assert found.reset(EpisodeStart("red")) == "red"
    with pytest.raises(RemoteError, match="another policy is served there than when the run began"):
        found.reset(EpisodeStart("red"))


def test_an_older_server_and_a_newer_one_are_understood(websocket_server: Start) -> None:
    older = {key: announcement(OURS, ONE)[key] for key in ("version", "policy", "conventions")}
    assert policy(websocket_server, older).greeting.served == Served("reference:co")
    newer = {**announcement(OURS, ONE), "weather": "fine"}
    assert policy(websocket_server, newer).greeting.served == ONE


@pytest.mark.parametrize(
    "said",
    [{"policy": 5, "digest": [1], "training_seed": "x", "clients": -1, "ignores_words": 1}, "yes", None, []],
)
def test_nonsense_counts_as_not_said(said: object) -> None:
    assert served({"heedful": said}) == Served()
    assert served({"heedful": {"digest": "a" * 500, "training_seed": True}}) == Served(digest="a" * 64)


@pytest.fixture
def hosted() -> Iterator[Callable[[str], PolicyServer]]:
    servers = []

    def start(ref: str) -> PolicyServer:
        server = serving(ref, "openpi", port=0, clients=3)
        threading.Thread(target=server.serve, daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        assert server.stop()


def test_our_server_announces_files_and_seed(
    hosted: Callable[[str], PolicyServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    text = (
        "import numpy as np\n"
        "from heedful.spec.contract import PolicyContract\n"
        "class Seeded:\n"
        "    contract = PolicyContract((), 'ee_delta', 20.0)\n"
        "    training_seed = 3\n"
        "    identity = 'weights-of-monday'\n"
        "    def reset(self, start): return start.instruction\n"
        "    def act(self, seen): return np.zeros((1, 7))\n"
    )
    (tmp_path / "served_by_test.py").write_text(text)
    found = load(f"openpi://127.0.0.1:{hosted('python:served_by_test:Seeded').port}")
    assert isinstance(found, RemotePolicy)
    assert found.greeting.served == Served("python:served_by_test:Seeded", "weights-of-monday", 3, 3, False)


def test_the_seed_of_a_checkpoint_is_in_its_policy_json(
    hosted: Callable[[str], PolicyServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "policy.json").write_text(json.dumps({"seed": 11}))
    plain = load("python:remote_doubles:make")
    monkeypatch.setattr("heedful.policies.references.load", lambda ref: plain)
    ref = f"reference:{tmp_path}"
    found = load(f"openpi://127.0.0.1:{hosted(ref).port}")
    assert isinstance(found, RemotePolicy) and found.training_seed == 11
    assert len(found.greeting.served.digest) == 12
