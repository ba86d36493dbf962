"""Our server and our client: what comes out is what the policy would have done, and trouble is told."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rollout_doubles import DoubleWorld, cases
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from heedful.policies.conventions.conversion import wire_images, wire_state
from heedful.policies.references import load
from heedful.policies.remote.announcement import conventions_for
from heedful.policies.remote.arrays import pack, unpack
from heedful.policies.remote.connection import RemoteError
from heedful.policies.remote.hosted import HostedPolicy
from heedful.policies.remote.server import PolicyServer
from heedful.rollouts.loop import run_episode
from heedful.spec.case import Episode, PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.seams import Start
from heedful.spec.state import Trajectory
from heedful.workflows.serving import serving

Hosted = Callable[..., PolicyServer]
PROTOCOLS = ("openpi", "vla-eval")


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def hosted(told: list[str]) -> Iterator[Hosted]:
    servers = []

    def start(protocol: str, ref: str = "python:remote_doubles:make", **options: Any) -> PolicyServer:
        server = serving(ref, protocol, port=0, tell=told.append, **options)
        threading.Thread(target=server.serve, daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        assert server.stop()


def episode(case: int = 0) -> Episode:
    return Episode(cases(4)[case], PolicyEntry("x", "x"))


def played(ref: str, case: int = 0) -> Trajectory:
    row, trajectory = run_episode(DoubleWorld(), load(ref), episode(case))
    assert trajectory is not None, row.error
    return trajectory


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", ["absolute", "delta", "joint"])
def test_behind_a_server_a_policy_does_what_it_would_do_here(
    hosted: Hosted, protocol: str, kind: str
) -> None:
    ref = f"python:remote_doubles:make:{kind}"
    server = hosted(protocol, ref)
    remote = f"{protocol}://127.0.0.1:{server.port}"
    assert load(remote).contract == load(ref).contract
    for case in (0, 1, 0):
        here, there = played(ref, case), played(remote, case)
        assert len(here) == 13  # four looks of three actions, then it says that it is done
        assert np.array_equal(here.command, there.command)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_clients_at_the_same_time_do_not_meet(hosted: Hosted, protocol: str) -> None:
    remote = f"{protocol}://127.0.0.1:{hosted(protocol, clients=3).port}"
    found: dict[int, Trajectory] = {}
    team = [threading.Thread(target=lambda i=i: found.update({i: played(remote, i)})) for i in range(3)]
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    for case, trajectory in found.items():
        assert np.array_equal(trajectory.command, played("python:remote_doubles:make", case).command)
    assert len(found) == 3


def test_more_clients_than_instances_wait_for_their_turn(hosted: Hosted) -> None:
    server = hosted("openpi", clients=1)
    url = f"ws://127.0.0.1:{server.port}"
    with connect(url) as first:
        first.recv()
        with connect(url) as second:
            with pytest.raises(TimeoutError):
                second.recv(timeout=0.1)
            first.close()
            assert "heedful" in unpack(second.recv(timeout=5), "openpi")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("kind", "said"),
    [("raise", "act at step 0: .*ValueError: the model is"), ("reset", "RuntimeError: no such task")],
)
def test_a_policy_that_fails_is_one_line_there_and_here(
    hosted: Hosted, told: list[str], protocol: str, kind: str, said: str
) -> None:
    server = hosted(protocol, f"python:remote_doubles:make:{kind}")
    row, _ = run_episode(DoubleWorld(), load(f"{protocol}://127.0.0.1:{server.port}"), episode())
    assert row.status == "crashed"
    assert "the server reports" in row.error
    assert told and not any("\n" in line for line in told)
    assert said.split(": ")[-1] in told[0]


def test_a_reset_that_fails_leaves_no_episode_to_go_on_with() -> None:
    policy = load("python:remote_doubles:make")
    hosted = HostedPolicy(policy, conventions_for(policy.contract, "openpi"))
    hosted.begin("red")
    policy.reset = load("python:remote_doubles:make:reset").reset  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="no such task"):
        hosted.begin("red")
    assert hosted.words is None


def test_another_policy_behind_the_reference_is_not_served_in_the_name_of_the_first(
    hosted: Hosted, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "changing_policy.py"
    module.write_text("from remote_doubles import make\n")
    server = hosted("openpi", "python:changing_policy:make", clients=8)
    held = [load(f"openpi://127.0.0.1:{server.port}")]
    assert held[0].reset(Start("lift it")) == "lift it"
    module.write_text("from remote_doubles import make  # trained again\n")
    with pytest.raises((UserError, RemoteError), match="the policy cannot be made"):
        for _ in range(6):  # whoever finds an instance of before takes it; there are one or two
            held.append(load(f"openpi://127.0.0.1:{server.port}?connect_s=1"))
            held[-1].reset(Start("lift it"))
    assert any("is another one now than when it was announced" in line for line in told)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_health_is_answered_in_the_words_of_both(hosted: Hosted, protocol: str) -> None:
    asking = HTTPConnection("127.0.0.1", hosted(protocol).port, timeout=5)
    for path, body in (("/healthz", b"OK\n"), ("/health", b'{"status": "ok"}\n')):
        asking.request("GET", path)
        answer = asking.getresponse()
        assert (answer.status, answer.read()) == (200, body)
        asking.close()


def test_stopping_sends_clients_away_and_frees_the_port() -> None:
    server = serving("python:remote_doubles:make", "openpi", port=0)
    threading.Thread(target=server.serve, daemon=True).start()
    with connect(f"ws://127.0.0.1:{server.port}") as client:
        client.recv()
        assert server.stop()
        with pytest.raises(ConnectionClosed):
            client.recv(timeout=5)
    with socket.create_server(("127.0.0.1", server.port)):
        pass


@pytest.mark.parametrize(
    ("ref", "options", "said"),
    [
        ("planted:color>object>spatial>verb>size", {}, "reads the state of the world.*cannot be served"),
        ("python:remote_doubles:blind", {}, "cannot be served"),
        ("plantd:color", {}, "Did you mean 'planted'"),
        ("python:remote_doubles:make", {"port": 70000}, "The port is 70000"),
        ("python:remote_doubles:make", {"clients": 0}, "The number of clients is 0"),
        ("python:remote_doubles:make", {"host": "no-such-host.invalid"}, "Cannot listen on no-such-host"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(ref: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said) as refused:
        serving(ref, "openpi", **{"port": 0, **options})
    assert "\n" not in str(refused.value)
    with pytest.raises(UserError, match="Unknown protocol 'openpy'. Did you mean 'openpi'"):
        serving("python:remote_doubles:make", "openpy")


def test_a_port_that_is_taken_is_refused(hosted: Hosted) -> None:
    with pytest.raises(UserError, match="Address already in use"):
        serving("python:remote_doubles:make", "openpi", port=hosted("openpi").port)


def seen(server: PolicyServer, protocol: str) -> tuple[dict[str, Any], dict[str, Any]]:
    policy = load(f"{protocol}://127.0.0.1:{server.port}")
    world = DoubleWorld()
    world.reset(cases(1)[0].scene, 0, "ee_absolute")
    look = world.observe(policy.contract.cameras)
    return wire_images(policy.conventions, look), wire_state(policy.conventions, look)


def asked(client: ClientConnection, message: Any, coding: Any) -> Any:
    client.send(message if isinstance(message, bytes | str) else pack(message, coding))
    answer = client.recv(timeout=5)
    return answer if isinstance(answer, str) else unpack(answer, coding)


def test_a_stranger_of_openpi_gets_chunks_and_is_told_to_stay_once_the_policy_is_done(hosted: Hosted) -> None:
    server = hosted("openpi")
    images, state = seen(server, "openpi")
    observation = {**images, **state, "prompt": "red"}
    with connect(f"ws://127.0.0.1:{server.port}") as client:
        client.recv()
        chunks = [asked(client, observation, "openpi") for _ in range(6)]
        assert [chunk["actions"].shape for chunk in chunks] == [(5, 7)] * 4 + [(1, 7)] * 2
        assert np.array_equal(chunks[5]["actions"][0], chunks[3]["actions"][2])
        assert "heedful" not in chunks[0] and "server_timing" in chunks[0]
        again = asked(client, {**observation, "reset": True}, "openpi")
        assert np.array_equal(again["actions"], chunks[0]["actions"])
        other = asked(client, {**observation, "prompt": "blue"}, "openpi")
        assert len(other["actions"]) == 5


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"prompt": "red"}, "heedful: observation/agent is missing; found prompt"),
        ({}, "heedful: the instruction is a NoneType, not a text"),
        ({"prompt": 5}, "heedful: the instruction is a int, not a text"),
        ({"prompt": "red", "heedful": {"seed": "x"}}, "heedful: the seed is 'x'"),
        (b"\xc1", "heedful: is no valid msgpack"),
        ("text", "heedful: the message is a text frame"),
    ],
)
def test_what_an_openpi_client_does_wrong_is_said_in_a_text_frame(
    hosted: Hosted, told: list[str], message: Any, said: str
) -> None:
    server = hosted("openpi")
    with connect(f"ws://127.0.0.1:{server.port}") as client:
        client.recv()
        assert said in asked(client, message, "openpi")
        with pytest.raises(ConnectionClosed):
            client.recv(timeout=5)
    assert len(told) == 1
    assert played(f"openpi://127.0.0.1:{server.port}")  # the next client is well


def vla_eval(kind: str, payload: Any, seq: int = 1) -> dict[str, Any]:
    return {"type": kind, "payload": payload, "seq": seq, "timestamp": 0.0}


def test_a_stranger_of_vla_eval_gets_one_action_a_message(hosted: Hosted) -> None:
    server = hosted("vla-eval")
    images, state = seen(server, "vla-eval")
    look = {"images": images, "task_description": "red", **state}
    with connect(f"ws://127.0.0.1:{server.port}") as client:
        hello = asked(client, vla_eval("hello", {}, 1), "vla-eval")
        assert (hello["type"], hello["seq"], hello["payload"]["protocol_version"]) == ("hello", 1, 1)
        assert hello["payload"]["action_spec"]["position"]["format"] == "absolute_xyz"
        client.send(pack(vla_eval("episode_start", {"task": {"name": "red"}}, 2), "vla-eval"))
        answers = [asked(client, vla_eval("observation", look, n), "vla-eval") for n in range(3, 18)]
        assert [answer["seq"] for answer in answers] == list(range(3, 18))
        actions = np.stack([answer["payload"]["actions"] for answer in answers])
        assert actions.shape == (15, 7)
        assert np.array_equal(actions[11:], np.repeat(actions[11:12], 4, axis=0))  # done: it stays
        client.send(pack(vla_eval("episode_end", {}, 18), "vla-eval"))
        client.send(pack(vla_eval("episode_start", {"task": {"name": "red"}}, 19), "vla-eval"))
        again = asked(client, vla_eval("observation", look, 20), "vla-eval")
        assert np.array_equal(again["payload"]["actions"], actions[0])


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (vla_eval("observation", {"task_description": "red"}), "agent is missing; found nothing"),
        (vla_eval("observation", {"task_description": "red", "images": 5}), "images is a int"),
        (vla_eval("observation", [1]), "the payload is a list"),
        (vla_eval("dance", {}), "of the type 'dance'"),
        (b"\xc1", "no valid msgpack"),
        ("text", "a text frame"),
    ],
)
def test_what_a_vla_eval_client_does_wrong_is_an_error_message_and_it_may_go_on(
    hosted: Hosted, message: Any, said: str
) -> None:
    server = hosted("vla-eval")
    with connect(f"ws://127.0.0.1:{server.port}") as client:
        answer = asked(client, message, "vla-eval")
        assert answer["type"] == "error" and said in answer["payload"]["error"]
        assert asked(client, vla_eval("hello", {}), "vla-eval")["type"] == "hello"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_who_is_between_episodes_makes_room_for_who_waits(
    hosted: Hosted, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heedful.policies.remote.server._REST_S", 0.0)
    remote = f"{protocol}://127.0.0.1:{hosted(protocol, clients=1).port}"
    world = DoubleWorld()
    world.reset(cases(1)[0].scene, 0, "ee_absolute")
    first, second = load(remote), load(remote)
    look = world.observe(first.contract.cameras)
    first.reset(Start("red"))
    first.act(look)
    second.reset(Start("red"))
    second.act(look)
    with pytest.raises(RemoteError, match="another client needed the policy instance"):
        first.act(look)
    first.reset(Start("blue"))  # the next episode takes its turn again
    first.act(look)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_policy_that_is_done_frees_its_instance_at_once(hosted: Hosted, protocol: str) -> None:
    remote = f"{protocol}://127.0.0.1:{hosted(protocol, clients=1).port}"
    first, second = load(remote), load(remote)
    for policy in (first, second, first):
        row, trajectory = run_episode(DoubleWorld(), policy, episode())
        assert trajectory is not None, row.error


def test_a_stranger_keeps_its_instance_however_long_it_rests(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heedful.policies.remote.server._REST_S", 0.0)
    monkeypatch.setattr("heedful.workflows.serving._WAIT_FOR_INSTANCE_S", 1.2)
    server = hosted("openpi", clients=1)
    images, state = seen(server, "openpi")
    observation = {**images, **state, "prompt": "red"}
    with connect(f"ws://127.0.0.1:{server.port}") as stranger:
        stranger.recv()
        asked(stranger, observation, "openpi")
        with pytest.raises(UserError, match="all policy instances are busy"):
            load(f"openpi://127.0.0.1:{server.port}?connect_s=2")
        assert "actions" in asked(stranger, observation, "openpi")
