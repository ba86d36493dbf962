"""The real packages, each in an environment of its own: openpi-client and vla-eval, both ways.

``scripts/prove_servers`` makes these environments and says where they are:
``HEEDFUL_OPENPI_PYTHON`` and ``HEEDFUL_VLA_EVAL_PYTHON`` name interpreters that have them.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heedful.policies.remote
from heedful.policies.conventions.conversion import wire_images, wire_state
from heedful.policies.references import load
from heedful.spec.contract import Observation
from heedful.spec.seams import Start
from heedful.workflows.checking import check_policy
from heedful.workflows.serving import serving

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "policies" / "remote"))


def interpreter(package: str) -> str:
    variable = f"HEEDFUL_{package.upper().replace('-', '_')}_PYTHON"
    if variable not in os.environ:
        pytest.skip(f"{variable} names no interpreter with {package}; scripts/prove_servers does")
    return os.environ[variable]


def client(package: str, script: str, port: int) -> dict[str, Any]:
    ran = subprocess.run(
        [interpreter(package), str(HERE / script), str(port)], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


@contextmanager
def server(package: str, script: str) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    heedful.policies.remote._greetings.clear()
    command = [interpreter(package), str(HERE / script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline()), process
        finally:
            process.kill()


@contextmanager
def ours(protocol: str) -> Iterator[int]:
    made = serving("python:remote_doubles:make", protocol, port=0)
    threading.Thread(target=made.serve, daemon=True).start()
    yield made.port
    assert made.stop()


def chunks(observation: Observation, words: str) -> Iterator[np.ndarray]:
    """Yield what the policy itself answers when it is asked again and again, until it is done."""
    policy = load("python:remote_doubles:make")
    policy.reset(Start(words))
    steps = 0
    while len(actions := policy.act(Observation(**{**vars(observation), "step": steps}))):
        yield actions
        steps += len(actions)


def strangers_observation() -> Observation:
    """Return what the two client scripts send."""
    rng = np.random.default_rng(0)
    sizes = {"agent": (24, 32, 3), "wrist": (16, 16, 3)}
    images = {name: rng.integers(0, 256, size, dtype=np.uint8) for name, size in sizes.items()}
    state = rng.normal(size=16)
    return Observation(images, state[None, :8], state[None, 8:], 0)


@pytest.fixture
def observation() -> Observation:
    rng = np.random.default_rng(1)
    images = {name: rng.integers(0, 256, (256, 256, 3), dtype=np.uint8) for name in ("agent", "wrist")}
    pose = np.array([[0.4, 0.05, 0.3, 0.01, -0.02, 0.3, 0.04, 0.039]])
    return Observation(images, pose, np.array([[0.0, -0.15, 0.0, -2.2, 0.0, 2.05, 0.78, 0.079]]), 0)


def fingerprint(array: np.ndarray) -> list[Any]:
    return [str(array.dtype), list(array.shape), hashlib.sha256(array.tobytes()).hexdigest()]


def test_the_real_openpi_client_asks_our_server() -> None:
    with ours("openpi") as port:
        found = client("openpi", "openpi_client_side.py", port)
    seen = strangers_observation()
    wanted = next(chunks(seen, "red"))
    assert found["dtype"] == "float64"
    assert np.array_equal(found["chunk"], wanted) and np.array_equal(found["again"], wanted)
    assert np.array_equal(found["one_by_one"], next(chunks(seen, "blue")))
    assert found["metadata"]["heedful"]["conventions"]["action"] == "ee_absolute"
    assert "observation/state is [3]; 16 finite numbers are needed" in found["refused"]


def test_our_client_asks_a_server_that_codes_with_the_real_package(observation: Observation) -> None:
    with server("openpi", "openpi_server_side.py") as (port, process):
        policy = load(f"openpi://127.0.0.1:{port}?preset=openpi-libero&size=256")
        assert dict(policy.greeting.metadata) == {"robot": "libero"}
        assert policy.reset(Start("lift the red cube")) == "lift the red cube"
        actions = policy.act(observation)
        assert process.stdout is not None
        seen = json.loads(process.stdout.readline())
        sent = {**wire_images(policy.conventions, observation), **wire_state(policy.conventions, observation)}
        assert seen == {key: fingerprint(value) for key, value in sent.items()} | {
            "prompt": "lift the red cube"
        }
        assert actions.shape == (10, 7)
        assert np.allclose(actions[:, :3], [0.025, 0, -0.0125]) and np.all(actions[:, 6] == 1)
        policy.reset(Start("fail"))
        with pytest.raises(Exception, match="the server reports ValueError: no such prompt"):
            policy.act(observation)
        policy.reset(Start("again"))
        assert len(policy.act(observation)) == 10


def test_the_real_vla_eval_runner_asks_our_server() -> None:
    with ours("vla-eval") as port:
        found = client("vla-eval", "vla_eval_client_side.py", port)
    executed = np.concatenate([chunk[:3] for chunk in chunks(strangers_observation(), "red")])
    assert len(executed) == 12
    for actions in found["actions"]:  # pictures as PNG, then raw
        assert np.array_equal(actions[:12], executed)
        assert np.array_equal(actions[12:], [executed[-1]] * 3)  # the policy is done: it stays
    assert "agent is missing" in found["refused"]
    assert found["specs"] == ["absolute_xyz", "euler_xyz_from_pointing_down", "continuous_01"]
    assert found["jpeg"] == 7


def test_our_client_asks_the_real_vla_eval_server(observation: Observation, tmp_path: Path) -> None:
    with server("vla-eval", "vla_eval_server_side.py") as (port, process):
        policy = load(f"vla-eval://127.0.0.1:{port}")
        assert policy.greeting.metadata["model_server"] == "Up"
        assert policy.reset(Start("lift the red cube")) == "lift the red cube"
        heights = [policy.act(observation)[0, 2] for _ in range(6)]
        assert np.allclose(heights, np.array([0, 1, 2, 3, 0, 1]) / 8 * 0.05)  # a new chunk after four
        assert process.stdout is not None
        started = json.loads(process.stdout.readline())
        assert started == {"episode_start": {"task": {"name": "lift the red cube"}}}
        seen = json.loads(process.stdout.readline())
        sent = {**wire_images(policy.conventions, observation), **wire_state(policy.conventions, observation)}
        words = {"task_description": "lift the red cube"}
        assert seen == {key: fingerprint(value) for key, value in sent.items()} | words
        policy.reset(Start("fail"))
        with pytest.raises(Exception, match="observation_failed: ValueError: no such task"):
            policy.act(observation)
        found = check_policy(f"vla-eval://127.0.0.1:{port}", pictures=tmp_path)
        assert found.wrong == []
        compared = {line.what: line.outcome for line in found.lines if line.what.startswith("spec")}
        assert compared == dict.fromkeys(
            ["spec position", "spec rotation", "spec gripper", "spec state"], "ok"
        )
        wrong = check_policy(f"vla-eval://127.0.0.1:{port}?gripper=close_negative")
        assert "gripper=close_positive" in wrong.wrong[0]
