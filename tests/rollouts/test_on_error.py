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
from heedful.rollouts.pool import Pool
from heedful.rollouts.run import RunCounts, run
from heedful.rollouts.runner import ContractCheck, EpisodeRunner
from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError
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


def test_a_policy_that_was_made_and_is_gone_later_costs_its_episodes_not_the_run(tmp_path: Path) -> None:
    refs = [f"python:forgetful_policies:make:{tmp_path / name}" for name in ("a.once", "b", "c")]
    wanted = spec(policies=tuple(PolicyEntry(ref, ref[-1]) for ref in refs))
    with Pool(1).crew(EpisodeRunner(str(tmp_path / "run"), "double", {})) as crew:
        compared = list(crew.unordered([ContractCheck(ref) for ref in refs]))  # a worker keeps two, b and c
        assert [done.value.mismatches for done in compared] == [(), (), ()]
        with RunFolder.open(tmp_path / "run", wanted) as folder:
            counts = run(folder, plan(wanted, cases(2)), crew=crew, compared=set(refs))
    assert counts == RunCounts(0, 4, 2)
    rows = [row for row in RunFolder.open(tmp_path / "run").rows() if row.status == "crashed"]
    assert {row.policy.ref for row in rows} == {refs[0]}
    assert {row.error for row in rows} == {"loading the policy: nobody listens at a.once. See its log."}
    assert (tmp_path / "run" / "rollouts" / rows[0].id / "error.txt").read_text() == (
        "nobody listens at a.once.\nSee its log.\n"
    )


def test_a_server_that_is_gone_by_the_first_episode_is_a_crash_and_before_the_comparison_a_refusal(
    tmp_path: Path,
) -> None:
    ref = "openpi://127.0.0.1:1?preset=openpi-libero&connect_s=1"
    wanted = spec(policies=(PolicyEntry(ref, "remote"),))
    with pytest.raises(UserError, match=r"127\.0\.0\.1:1"):
        do(tmp_path / "refused", wanted)
    assert RunFolder.open(tmp_path / "refused").rows() == []
    assert do(tmp_path / "run", wanted, compared={ref}) == RunCounts(0, 0, 4)
    assert all(
        row.error.startswith("loading the policy: ") and "127.0.0.1:1" in row.error
        for row in RunFolder.open(tmp_path / "run").rows()
    )
    stopped = do(tmp_path / "stop", wanted, compared={ref}, on_error="stop")
    assert stopped == RunCounts(0, 0, 1, stopped=True)
