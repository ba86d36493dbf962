"""What a crash does to the episodes after it, with policies here and behind a server."""

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from rollout_doubles import cases, spec
from websockets.sync.server import ServerConnection, serve

from heedful.policies.remote.arrays import pack
from heedful.rollouts.plan import plan
from heedful.rollouts.run import RunCounts, run
from heedful.spec.case import PolicyEntry
from heedful.spec.run import RunSpec
from heedful.store.run_folder import RunFolder


def do(path: Path, wanted: RunSpec, **options: object) -> RunCounts:
    with RunFolder.open(path, wanted) as folder:
        return run(folder, plan(folder.spec, cases(4)), workers=1, **options)


@pytest.fixture
def moody() -> Iterator[str]:
    """Serve a policy that breaks down in its second episode; return its reference."""
    chunk = np.tile([0.0, 0.0, 0.01, 0.0, 0.0, 0.0, -1.0], (10, 1))
    episodes = 0

    def handle(connection: ServerConnection) -> None:
        nonlocal episodes
        connection.send(pack({}, "openpi"))
        for count, _ in enumerate(connection):
            episodes += count == 0
            if episodes == 2 and count == 1:
                connection.send("Traceback:\nRuntimeError: out of memory")
            else:
                connection.send(pack({"actions": chunk}, "openpi"))

    with serve(handle, "127.0.0.1", 0, compression=None, max_size=None) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"openpi://127.0.0.1:{server.socket.getsockname()[1]}?preset=openpi-libero&size=32&reply_s=5"


def test_a_run_goes_on_after_a_crash_unless_it_is_told_to_stop(tmp_path: Path) -> None:
    assert do(tmp_path / "on", spec("nan")) == RunCounts(0, 0, 4)
    stopped = do(tmp_path / "stop", spec("nan"), on_error="stop")
    assert stopped == RunCounts(0, 0, 1, stopped=True)
    assert do(tmp_path / "stop", spec("nan"), on_error="stop") == RunCounts(1, 0, 1, stopped=True)
    assert do(tmp_path / "stop", spec("nan")) == RunCounts(2, 0, 2)
    assert do(tmp_path / "well", spec(""), on_error="stop") == RunCounts(0, 4, 0)


def test_a_server_that_breaks_down_costs_one_episode(moody: str, tmp_path: Path) -> None:
    wanted = spec(policies=(PolicyEntry(moody, "remote"),))
    assert do(tmp_path / "run", wanted, on_error="stop") == RunCounts(0, 1, 1, stopped=True)
    assert do(tmp_path / "run", wanted) == RunCounts(2, 2, 0)
    folder = RunFolder.open(tmp_path / "run")
    (crashed,) = [row for row in folder.rows() if row.status == "crashed"]
    assert crashed.error.endswith("the server reports RuntimeError: out of memory.")
    assert (crashed.instruction_received, crashed.steps) == ("blue", 5)
    said = (tmp_path / "run" / "rollouts" / crashed.id / "error.txt").read_text()
    assert "All that the server said:\nTraceback:\nRuntimeError: out of memory" in said
    assert {row.instruction_received for row in folder.rows()} == {"red", "blue"}
    assert [path for path in (tmp_path / "run" / "rollouts").iterdir() if path.name.startswith(".")] == []
