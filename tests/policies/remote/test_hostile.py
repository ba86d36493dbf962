"""Servers that break the protocol: a bounded wait, one clear line in the row, on with the next episode."""

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import hostile_servers as hostile
import msgpack
import numpy as np
import pytest
from hostile_servers import GOOD, answering, in_turn
from rollout_doubles import DoubleWorld, cases

from heedful.policies.references import load
from heedful.policies.remote.announcement import Served, announcement, conventions_for
from heedful.policies.remote.arrays import pack
from heedful.policies.remote.connection import Address, Connection, RemoteError
from heedful.rollouts.loop import run_episode
from heedful.spec.case import Episode, PolicyEntry
from heedful.spec.contract import CameraContract, PolicyContract
from heedful.spec.errors import UserError
from heedful.spec.rollout import EpisodeRow
from heedful.spec.seams import Policy
from heedful.spec.seams import Start as EpisodeStart

LIMITS = "connect_s=1&reply_s=0.5&max_mb=1"
LONGEST_S = 5.0
Handler = Callable[[Any], None]
Start = Callable[..., int]
NAN, INF = GOOD.copy(), GOOD.copy()
NAN[3, 2], INF[0, 6] = np.nan, -np.inf


@pytest.fixture(autouse=True)
def _threads_end() -> Iterator[None]:
    hostile.NEVER.clear()
    yield
    hostile.NEVER.set()


def reference(port: int, more: str = "preset=openpi-libero") -> str:
    return f"openpi://127.0.0.1:{port}?{LIMITS}&{more}"


def row(policy: Policy, case: int = 0) -> EpisodeRow:
    """Return the row of one episode; it took a bounded time, and a crash left no trajectory."""
    begun = time.monotonic()
    found, trajectory = run_episode(
        DoubleWorld(), policy, Episode(cases(4)[case], PolicyEntry("remote", "remote"))
    )
    assert time.monotonic() - begun < LONGEST_S
    assert (trajectory is None) == (found.status == "crashed")
    assert "\n" not in found.error
    return found


REPLIES = {
    "traceback": (
        "Traceback (most recent call last):\n  File x\nRuntimeError: CUDA out of memory\n",
        "the server reports RuntimeError: CUDA out of memory",
    ),
    "a terminal's commands": ("Error: \x1b[2J\x07no", r"reports Error: \?\[2J\?no"),
    "empty text": ("", "the server reports an error without words"),
    "nan": ({"actions": NAN}, "returned nan in action 3, number 2"),
    "inf": ({"actions": INF}, "returned -inf in action 0, number 6"),
    "width": ({"actions": np.zeros((10, 8))}, r"have the shape \[10, 8\]; ee_delta needs \[T, 7\]"),
    "empty chunk": ({"actions": np.zeros((0, 7))}, "holds no action at all"),
    "empty list": ({"actions": []}, "holds no action at all"),
    "three axes": ({"actions": np.zeros((1, 10, 7))}, "not numbers"),
    "truth values": ({"actions": np.zeros((10, 7), bool)}, "not numbers"),
    "texts": ({"actions": [["a"] * 7]}, "not numbers"),
    "ragged": ({"actions": [[0.0] * 7, [0.0]]}, "lists of different lengths"),
    "a map of actions": ({"actions": {"x": 1}}, "the actions are a dict, not an array"),
    "no actions": ({"action_chunk": GOOD}, "holds no actions; found action_chunk"),
    "a list": (msgpack.packb([1, 2]), "is a list, not a map"),
    "no msgpack": (b"\xc1\xc1\xc1", "is no valid msgpack"),
    "cut off": (pack({"actions": GOOD}, "openpi")[:-20], "is no valid msgpack"),
    "nested without end": (b"\x91" * 100_000, "is no valid msgpack"),
    "objects": (
        msgpack.packb(
            {"actions": {b"__ndarray__": True, b"data": b"cos\nsystem\n", b"dtype": "|O", b"shape": [1]}}
        ),
        "only numbers are taken",
    ),
    "numbers in keys": (msgpack.packb({1: 2}), "is no valid msgpack"),
    "a shape that lies": (
        msgpack.packb(
            {"actions": {b"__ndarray__": True, b"data": b"", b"dtype": "<f8", b"shape": [2**40, 7]}}
        ),
        "holds an array of shape",
    ),
    "a shape below zero": (
        msgpack.packb({"actions": {b"__ndarray__": True, b"data": b"", b"dtype": "<f8", b"shape": [-1, 7]}}),
        "holds an array of the shape",
    ),
    "records": (
        msgpack.packb(
            {"actions": {b"__ndarray__": True, b"data": bytes(8), b"dtype": "i4,i4", b"shape": [1]}}
        ),
        "only numbers are taken",
    ),
}


@pytest.mark.parametrize(("reply", "said"), REPLIES.values(), ids=list(REPLIES))
def test_an_answer_that_is_none_is_one_line_and_the_next_episode_is_well(
    websocket_server: Start, reply: object, said: str
) -> None:
    well = answering({"actions": GOOD})
    policy = load(reference(websocket_server(in_turn(well, answering(reply), well))))
    crashed = row(policy)
    assert crashed.status == "crashed" and crashed.steps == 0
    assert crashed.error.startswith("policy.act at step 0: RemoteError: openpi://127.0.0.1:")
    assert re.search(said, crashed.error), crashed.error
    assert row(policy, 1).status == "finished"


CONNECTIONS = {
    "never answers": (hostile.silent, "act at step 0: .*no answer within 0.5 s"),
    "does not greet": (hostile.mute, r"reset: .*no answer within 1 s \(connect_s=\.\.\. in the reference"),
    "greets with a text": (lambda c: c.send("Error"), "reset: .*the server reports Error"),
    "greets with a list": (lambda c: c.send(msgpack.packb([])), "reset: .*is a list, not a map"),
    "closes mid-episode": (hostile.closing_after(2), r"act at step 10: .*code 1011: out of memory\)"),
    "closes at once": (lambda c: c.close(), r"act at step 0: .*closed the connection|reset: .*closed the"),
    "streams a gigabyte": (hostile.streaming(1000), "act at step 0: .*larger than 1 MB and was not read"),
}


@pytest.mark.parametrize(("handler", "said"), CONNECTIONS.values(), ids=list(CONNECTIONS))
def test_a_connection_that_fails_is_one_line_and_the_next_episode_has_its_own(
    websocket_server: Start, handler: Handler, said: str
) -> None:
    well = answering({"actions": GOOD})
    policy = load(reference(websocket_server(in_turn(well, handler, well))))
    crashed = row(policy)
    assert crashed.status == "crashed"
    assert re.search(f"policy.{said}", crashed.error), crashed.error
    assert row(policy, 1).status == "finished"


def test_answers_that_nobody_asked_for_are_noticed_although_openpi_numbers_nothing(
    websocket_server: Start,
) -> None:
    policy = load(reference(websocket_server(hostile.twice)))
    policy.reset(EpisodeStart("red"))
    world = DoubleWorld()
    world.reset(cases(1)[0].scene, 0, "ee_delta")
    seen = world.observe(policy.contract.cameras)
    with pytest.raises(RemoteError, match="a message that nobody had asked for"):
        for _ in range(1000):  # every answer leaves one more unread; when it is seen is up to the network
            policy.act(seen)


def test_a_late_answer_is_not_taken_for_that_of_the_next_episode(websocket_server: Start) -> None:
    asked = threading.Event()
    well = answering({"actions": GOOD * 2})
    policy = load(reference(websocket_server(in_turn(well, hostile.late(asked), well))))
    assert "no answer within 0.5 s" in row(policy).error
    asked.set()
    policy.reset(EpisodeStart("red"))
    seen = DoubleWorld()
    seen.reset(cases(1)[0].scene, 0, "ee_delta")
    actions = policy.act(seen.observe(policy.contract.cameras))
    assert np.allclose(actions[:, 2], 0.02 * 0.05)


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        (hostile.announcing_a_gigabyte, "larger than 1 MB and was not read"),
        (hostile.never_reading, "did not read the observation within 0.5 s"),
        (hostile.reading_in_drips, "did not read the observation within 0.5 s"),
    ],
)
def test_a_gigabyte_is_refused_when_it_is_announced_and_no_server_must_read(
    raw_server: Start, handler: Handler, said: str
) -> None:
    policy = load(reference(raw_server(handler), "preset=openpi-libero&size=2048"))
    assert said in row(policy).error


def test_an_answer_that_comes_in_drips_and_never_ends_is_not_waited_for(raw_server: Start) -> None:
    policy = load(reference(raw_server(hostile.answering_in_drips), "preset=openpi-libero&size=32"))
    assert "no answer within 0.5 s (reply_s=..." in row(policy).error


def test_a_server_that_is_gone_crashes_the_episode_and_not_the_run(websocket_server: Start) -> None:
    here = websocket_server(answering({"actions": GOOD}))
    policy = load(reference(here))
    policy.address = replace(policy.address, port=unused())
    found = row(policy)
    assert found.error.startswith("policy.reset: RemoteError: ")
    assert "nothing listens there (Connection refused): start the server" in found.error


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        (hostile.no_websocket, "refuses the connection: HTTP 404"),
        (hostile.no_http, "speaks no WebSocket"),
        (hostile.accepting_only, "no connection within 1 s"),
    ],
)
def test_what_is_no_server_is_refused_before_a_run_begins(
    raw_server: Start, handler: Handler, said: str
) -> None:
    with pytest.raises(UserError, match=said) as refused:
        load(reference(raw_server(handler)))
    assert "\n" not in str(refused.value)


def test_nothing_there_at_all_is_refused_before_a_run_begins(unused_port: int) -> None:
    with pytest.raises(UserError, match=r"nothing listens there \(Connection refused\)"):
        load(reference(unused_port))
    with pytest.raises(UserError, match="nothing listens there"):
        load("openpi://no-such-host.invalid:8000?preset=openpi-libero")


def test_once_seen_a_server_may_be_gone_when_a_worker_makes_its_policy_again(
    websocket_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = reference(websocket_server(answering({"actions": GOOD})))
    load(here)
    monkeypatch.setattr(Connection, "open", staticmethod(gone))
    assert "nobody" in row(load(here)).error


def gone(address: Address) -> Connection:
    raise RemoteError("nobody is there.")


def unused() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def test_another_policy_at_the_same_address_is_noticed(websocket_server: Start) -> None:
    contract = PolicyContract((CameraContract("agent", 32, 32),), "ee_absolute", 20.0)
    offers = [
        announcement(conventions_for(replace(contract, control_hz=hz), "openpi"), Served("x"))
        for hz in (20, 10)
    ]
    handlers = [answering({"actions": GOOD}, metadata={"heedful": offer}) for offer in offers]
    policy = load(f"openpi://127.0.0.1:{websocket_server(in_turn(*handlers))}")
    assert "another policy is served there than when the run began" in row(policy).error
