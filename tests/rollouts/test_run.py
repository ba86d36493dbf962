import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rollout_doubles import cases, spec

from heedful.rollouts.plan import plan
from heedful.rollouts.run import RunCounts, run
from heedful.rollouts.watch import Limits
from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.run import RunSpec
from heedful.store.run_folder import RunFolder

DRIVER = Path(__file__).parent / "killed_driver.py"


def do(path: Path, wanted: RunSpec, count: int = 4, **options: object) -> RunCounts:
    with RunFolder.open(path, wanted) as folder:
        return run(folder, plan(folder.spec, cases(count)), **options)


def content(path: Path) -> dict[str, tuple[object, ...]]:
    folder = RunFolder.open(path)
    found = {}
    for rollout in folder.iter_rollouts():
        row = replace(rollout.row, wall_s=0.0, policy_s=0.0)
        found[row.id] = (row, *(rollout.trajectory.object_positions_m.ravel() if rollout.trajectory else ()))
    return found


def test_results_do_not_depend_on_the_number_of_workers_nor_on_what_ran_before(tmp_path: Path) -> None:
    assert do(tmp_path / "two", spec("", "random"), 6, workers=2) == RunCounts(0, 12, 0)
    do(tmp_path / "one", spec("random"), 3, workers=1)
    assert do(tmp_path / "one", spec("random", ""), 6, workers=1) == RunCounts(3, 9, 0)
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_the_same_command_runs_nothing_again(tmp_path: Path) -> None:
    do(tmp_path, spec(""))
    before = (tmp_path / "episodes.jsonl").read_bytes()
    told: list[tuple[int, int]] = []
    counts = do(tmp_path, spec(""), progress=lambda stage, done, total, note="": told.append((done, total)))
    assert counts == RunCounts(4, 0, 0) and told == [(4, 4)]
    assert (tmp_path / "episodes.jsonl").read_bytes() == before


def test_crashes_deaths_and_hangs_are_counted_and_explained(tmp_path: Path) -> None:
    wanted = spec("", "nan", "die", "hang", f"once={tmp_path / 'marker'}")
    counts = do(tmp_path / "run", wanted, 1, limits=Limits(call_s=1.0))
    assert counts == RunCounts(0, 2, 3, retried=3)
    folder = RunFolder.open(tmp_path / "run")
    errors = {row.policy.name: row.error for row in folder.rows() if row.status == "crashed"}
    assert errors["hang"] == "killed after 1 s in policy.act at step 0; tried 2 times"
    assert errors["die"] == "its worker process died (signal 9); tried 2 times"
    attempts = {row.policy.name.partition("=")[0]: row.attempts for row in folder.rows()}
    assert attempts == {"good": 1, "nan": 1, "die": 2, "hang": 2, "once": 2}
    assert "all must be finite" in errors["nan"]
    nan = next(row for row in folder.rows() if row.policy.name == "nan")
    assert "Traceback" in folder.error(nan.id) and folder.rollout(nan).trajectory is None


def test_a_world_that_hangs_in_foreign_code_is_killed_and_the_policy_is_not_blamed(tmp_path: Path) -> None:
    counts = do(tmp_path, spec("", world_options={"hangs_at": 3}), 1, limits=Limits(episode_s=1.0))
    assert counts == RunCounts(0, 0, 1, retried=1)
    (row,) = RunFolder.open(tmp_path).rows()
    assert row.error == "killed after 1 s in the world; tried 2 times"


def test_a_policy_that_interrupts_or_exits_crashes_its_episode_only_and_prints_no_result(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert do(tmp_path, spec("interrupt", "exit"), 1) == RunCounts(0, 0, 2)
    rows = RunFolder.open(tmp_path).rows()
    assert {row.policy.name: row.error for row in rows} == {
        "interrupt": "policy.act at step 0: KeyboardInterrupt",
        "exit": "policy.act at step 0: SystemExit: 3",
    }
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "printed by a library" in printed.err


def test_a_run_of_nothing_is_refused() -> None:
    with pytest.raises(UserError, match="Nothing to run: no cases"):
        plan(spec(""), [])
    elsewhere = PolicyEntry("double:", "mine", only={"pair": "verb,size"})
    with pytest.raises(UserError, match="'mine' meets only pair=verb,size"):
        plan(spec(policies=(elsewhere,)), cases(2))


@pytest.mark.parametrize(
    ("rest", "line"), [("refuse", "no checkpoint there"), ("camera", "does not fit the world")]
)
def test_a_policy_that_cannot_be_used_stops_the_run_with_one_line(
    tmp_path: Path, rest: str, line: str
) -> None:
    with pytest.raises(UserError, match=line):
        do(tmp_path, spec(rest))
    assert RunFolder.open(tmp_path).rows() == []


def test_a_deleted_rollout_folder_and_a_forgotten_crash_run_again(tmp_path: Path) -> None:
    do(tmp_path, spec("", "nan"), 2)
    reference = content(tmp_path)
    good = next(row for row in RunFolder.open(tmp_path).rows() if row.status == "finished")
    shutil.rmtree(tmp_path / "rollouts" / good.id)
    assert do(tmp_path, spec("", "nan"), 2) == RunCounts(3, 1, 0)
    assert content(tmp_path) == reference
    with RunFolder.open(tmp_path, spec("", "nan")) as folder:
        folder.forget(row.id for row in folder.rows() if row.status == "crashed")
        assert len(folder.rows()) == 2
    assert do(tmp_path, spec("", "nan"), 2) == RunCounts(2, 0, 2)


def driver(path: Path, plugin_path: list[str], *arguments: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(plugin_path)}
    # A shell that starts the tests in the background leaves Ctrl-C ignored, and children inherit that.
    return subprocess.Popen(
        [sys.executable, str(DRIVER), str(path), *arguments],
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def expect_complete(path: Path, reference: dict[str, tuple[object, ...]]) -> None:
    assert content(path) == reference
    lines = [json.loads(line)["id"] for line in (path / "episodes.jsonl").read_text().splitlines()]
    assert sorted(lines) == sorted(reference)  # nothing lost, nothing twice
    assert not list(path.rglob("*.tmp")) and not list(path.rglob(".tmp-*"))


def test_killed_at_any_write_the_run_resumes_to_exactly_the_same(
    tmp_path: Path, plugin_path: list[str]
) -> None:
    do(tmp_path / "whole", spec("random"), 6)
    reference = content(tmp_path / "whole")
    path = tmp_path / "killed"
    kills = 0
    # The n-th write, sync or rename of the driver is its last; a write is left half done.
    for at in (1, 3, 5, 2, 4, 5, 3):
        code = driver(path, plugin_path, str(at)).wait(timeout=120)
        assert code in (0, -signal.SIGKILL)
        kills += code != 0
    assert kills >= 5
    assert driver(path, plugin_path, "0").wait(timeout=120) == 0
    expect_complete(path, reference)


@pytest.mark.slow
def test_killed_at_every_write(tmp_path: Path, plugin_path: list[str]) -> None:
    do(tmp_path / "whole", spec("random"), 6)
    reference = content(tmp_path / "whole")
    for at in range(1, 40):
        path = tmp_path / f"killed{at}"
        code = driver(path, plugin_path, str(at)).wait(timeout=120)
        assert driver(path, plugin_path, "0").wait(timeout=120) == 0
        expect_complete(path, reference)
        if code == 0:
            break
    assert at > 15


@pytest.mark.slow
def test_killed_at_random_instants(tmp_path: Path, plugin_path: list[str]) -> None:
    rng = np.random.default_rng(0)
    do(tmp_path / "whole", spec("random"), 40)
    reference = content(tmp_path / "whole")
    path = tmp_path / "killed"
    for _ in range(12):
        process = driver(path, plugin_path, "0", "40")
        try:
            process.wait(timeout=rng.uniform(0.3, 2.0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert driver(path, plugin_path, "0", "40").wait(timeout=120) == 0
    expect_complete(path, reference)


def test_a_second_driver_is_refused_while_the_first_runs(tmp_path: Path, plugin_path: list[str]) -> None:
    with RunFolder.open(tmp_path, spec("random")):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(plugin_path)}
        done = subprocess.run(
            [sys.executable, str(DRIVER), str(tmp_path), "0"], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 2
        assert f"in use by another process (number {os.getpid()})" in done.stderr
    assert driver(tmp_path, plugin_path, "0").wait(timeout=120) == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_polite_end_leaves_no_worker_behind_and_a_folder_that_resumes(
    tmp_path: Path, plugin_path: list[str], number: int, code: int
) -> None:
    process = driver(tmp_path, plugin_path, "signal", "2000")
    marker = tmp_path / "workers"
    while not marker.exists():
        assert process.poll() is None
        os.sched_yield()
    process.send_signal(number)
    assert process.wait(timeout=60) == code
    for pid in json.loads(marker.read_text()):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert RunFolder.open(tmp_path).rows()
