"""The pool on a Ray cluster of two nodes that is started on this machine."""

import os
from collections.abc import Iterator
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest
from rollout_doubles import cases, spec
from test_run import content

from heedful.rollouts.plan import plan
from heedful.rollouts.ray_pool import ray_pool
from heedful.rollouts.run import RunCounts, run
from heedful.rollouts.runner import EpisodeRunner
from heedful.rollouts.watch import LIMITS, Limits
from heedful.spec.errors import UserError
from heedful.spec.progress import Progress, silent
from heedful.spec.run import RunSpec
from heedful.store.run_folder import RunFolder

try:
    import ray  # noqa: F401
    from ray.cluster_utils import Cluster
except ModuleNotFoundError:
    Cluster = None

needs_ray = pytest.mark.skipif(Cluster is None, reason="Ray is not installed: pip install 'heedful[ray]'")


@pytest.fixture
def cluster(plugin_path: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two nodes of one CPU each."""
    path = os.pathsep.join([*plugin_path, os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)  # the nodes' workers know the doubles
    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        started.second = started.add_node(num_cpus=1)
        started.wait_for_nodes()
        yield started
    finally:
        started.shutdown()


def do(
    address: str,
    path: Path,
    wanted: RunSpec,
    count: int,
    limits: Limits = LIMITS,
    progress: Progress = silent,
) -> RunCounts:
    runner = EpisodeRunner(str(path), wanted.world, {}, limits)
    with (
        ray_pool(address) as pool,
        pool.crew(runner) as crew,
        RunFolder.open(path, wanted) as folder,
    ):
        assert pool.workers == 2
        return run(folder, plan(folder.spec, cases(count)), progress=progress, crew=crew)


@needs_ray
@pytest.mark.slow
def test_two_nodes_give_the_rows_of_one_worker(cluster: Any, tmp_path: Path) -> None:
    wanted = spec("", "random", "nan")
    with RunFolder.open(tmp_path / "one", wanted) as folder:
        run(folder, plan(wanted, cases(4)), workers=1)
    assert do(cluster.address, tmp_path / "ray", wanted, 4) == RunCounts(0, 8, 4)
    assert content(tmp_path / "ray") == content(tmp_path / "one")
    hanging = spec("hang", "die", f"once={tmp_path / 'marker'}")
    counts = do(cluster.address, tmp_path / "hang", hanging, 1, Limits(call_s=1.0))
    assert counts == RunCounts(0, 1, 2, retried=3)
    errors = {row.policy.name: row.error for row in RunFolder.open(tmp_path / "hang").rows()}
    assert errors["hang"] == "killed after 1 s in policy.act at step 0; tried 2 times"
    assert errors["die"] == "its worker process died (signal 9); tried 2 times"


@needs_ray
@pytest.mark.slow
def test_a_node_that_is_killed_costs_what_ran_there_a_retry_and_nothing_else(
    cluster: Any, tmp_path: Path
) -> None:
    wanted = spec("slow")
    with RunFolder.open(tmp_path / "one", wanted) as folder:
        run(folder, plan(wanted, cases(16)), workers=2)

    def kill_a_node(stage: str, done: int, total: int, note: str = "") -> None:
        if done == 5:
            cluster.remove_node(cluster.second, allow_graceful=False)

    counts = do(cluster.address, tmp_path / "ray", wanted, 16, progress=kill_a_node)
    assert counts == RunCounts(0, 16, 0, retried=1)
    rows = RunFolder.open(tmp_path / "ray").rows()
    assert sorted(row.attempts for row in rows) == [1] * 15 + [2]
    found, reference = content(tmp_path / "ray"), content(tmp_path / "one")
    assert {key: values[1:] for key, values in found.items()} == {k: v[1:] for k, v in reference.items()}


@needs_ray
@pytest.mark.slow
def test_what_cannot_be_is_one_line(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        pytest.raises(UserError, match="There is no Ray cluster at '127.0.0.1:1' to join") as caught,
        ray_pool("127.0.0.1:1"),
    ):
        pass
    assert "\n" not in str(caught.value)
    with (
        ray_pool(cluster.address) as pool,
        pytest.raises(UserError, match="^On Ray node .*missing.txt: No such file"),
    ):
        pool.map(methodcaller("read_text"), [tmp_path / "missing.txt"])
    monkeypatch.setattr("heedful.rollouts.ray_pool.os.getcwd", lambda: "/not/there")
    with (
        ray_pool(cluster.address) as pool,
        pytest.raises(
            UserError, match="there is no folder /not/there; it must be on a disk that all nodes share"
        ),
    ):
        pool.map(methodcaller("upper"), ["a"])


@pytest.mark.skipif(Cluster is not None, reason="Ray is installed")
def test_without_ray_the_line_says_what_to_install() -> None:
    with pytest.raises(UserError, match=r"pip install 'heedful\[ray\]'"), ray_pool("local"):
        pass
