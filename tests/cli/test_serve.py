"""``heedful serve`` as a process, and ``heedful check`` and ``heedful run`` against it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from heedful.cli.app import app

DOUBLES = Path(__file__).parents[1] / "policies" / "remote"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(DOUBLES), "PYTHONUNBUFFERED": "1"}


@pytest.fixture(params=["openpi", "vla-eval"])
def served(request: pytest.FixtureRequest) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "heedful", "serve", "--policy", "python:remote_doubles:make"]
    command += ["--protocol", request.param, "--port", "0", "--json"]
    with subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            said = json.loads(process.stdout.readline())
            assert said["url"] == f"{request.param}://127.0.0.1:{said['port']}"
            yield process, said["url"]
        finally:
            process.kill()


def heedful(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "heedful", *arguments]
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)


def test_a_served_policy_is_checked_and_run_like_any_other_and_the_server_stops_when_told(
    served: tuple[subprocess.Popen[str], str], tmp_path: Path
) -> None:
    process, url = served
    checked = heedful(tmp_path, "check", "--policy", url, "--json", "--save-images", "seen")
    assert checked.returncode == 0, checked.stderr
    found = json.loads(checked.stdout)[-1]["policy"]
    assert found["wrong"] == [] and found["chunk"] == 5
    assert {line["outcome"] for line in found["lines"]} == {"ok"}
    assert len(list((tmp_path / "seen").glob("*.png"))) == 2

    sizes = ("--pair", "color,object", "--rollouts", "4", "--in-distribution", "0", "--empty", "0")
    for ref, out in ((url, "far"), ("python:remote_doubles:make", "near")):
        ran = heedful(tmp_path, "run", "factors", "--policy", ref, *sizes, "--out", out, "--workers", "2")
        assert ran.returncode == 0, ran.stderr
    assert outcomes(tmp_path / "far") == outcomes(tmp_path / "near")

    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    assert process.stderr is not None and process.stderr.read().splitlines() == ["heedful: stopped"]


def outcomes(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Return case -> what the row says, the policy's name and all timings apart."""
    rows = [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]
    kept = ("status", "instruction_received", "steps", "looks", "error")
    return {row["case"]["id"]: tuple(row[key] for key in kept) for row in rows}


THREADS = """
import os
from pathlib import Path
def threads():
    Path("threads").write_text(os.environ.get("OMP_NUM_THREADS", ""))
    raise RuntimeError("seen")
"""


@pytest.mark.parametrize(("given", "used"), [(None, "1"), ("2", "2")])
def test_a_server_has_one_thread_unless_the_environment_says_otherwise(
    given: str | None, used: str, tmp_path: Path
) -> None:
    (tmp_path / "counting.py").write_text(THREADS)
    environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    environment |= {} if given is None else {"OMP_NUM_THREADS": given}
    command = [sys.executable, "-m", "heedful", "serve", "--policy", "python:counting:threads"]
    command += ["--protocol", "openpi"]
    said = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "RuntimeError: seen" in said.stderr
    assert (tmp_path / "threads").read_text() == used


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--policy planted:color>object>spatial>verb>size --protocol openpi", "cannot be served"),
        ("--policy python:nowhere:make --protocol openpi", "no module named 'nowhere'"),
        ("--policy python:x:make --protocol openpy", "'--protocol'"),
        ("--policy python:x:make --protocol openpi --port 70000", "'--port'"),
    ],
)
def test_what_cannot_be_served_is_one_line(arguments: str, said: str) -> None:
    result = CliRunner().invoke(app, ["serve", *arguments.split()])
    assert result.exit_code == 2
    assert said in result.stderr and result.stderr.count("\n") == 1


def test_the_process_stops_at_an_interrupt_with_a_client_connected(
    served: tuple[subprocess.Popen[str], str],
) -> None:
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    process, url = served
    with connect(f"ws://{url.partition('://')[2]}") as client:
        process.send_signal(signal.SIGINT)
        with pytest.raises(ConnectionClosed):
            while True:
                client.recv(timeout=20)
    assert process.wait(20) == 0


@pytest.mark.parametrize("verb", ["check", "run factors --out x"])
def test_conventions_can_be_said_only_of_servers(verb: str) -> None:
    result = CliRunner().invoke(app, [*verb.split(), "--policy", "planted:color", "--flip", "both"])
    assert result.exit_code == 2
    assert "has no conventions to change: flip can be said only of policies whose" in result.stderr


def test_a_server_without_free_descriptors_listens_on_as_soon_as_there_are_some(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "heedful", "serve", "--policy", "python:remote_doubles:make"]
    command += ["--protocol", "openpi", "--port", "0", "--json"]
    shell = ["sh", "-c", f"ulimit -n 64; exec {shlex.join(command)}"]
    with subprocess.Popen(shell, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = json.loads(process.stdout.readline())["port"]
            idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
            descriptors = Path(f"/proc/{process.pid}/fd")
            for _ in range(500):  # until it has taken as many as it can
                if len(list(descriptors.iterdir())) == 64:
                    break
                threading.Event().wait(0.02)
            for connection in idle:
                connection.close()
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=30) as answer:
                assert answer.read() == b"OK\n"
        finally:
            process.kill()
