"""A run whose workers share policies gives the rows of one whose workers do not, whatever dies."""

import multiprocessing
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rollout_doubles import cases
from test_run import content

from heedful.rollouts.plan import plan
from heedful.rollouts.run import RunCounts, run
from heedful.rollouts.runner import EpisodeRunner
from heedful.rollouts.shared.site import may_begin, shared_pool
from heedful.rollouts.watch import LIMITS, Limits
from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.progress import Progress, silent
from heedful.spec.run import RunSpec
from heedful.store.run_folder import RunFolder


def spec(*rests: str, name: str = "Sharable") -> RunSpec:
    policies = tuple(PolicyEntry(f"python:shared_doubles:{name}:{rest}", rest) for rest in rests)
    return RunSpec("double", {}, policies, "double")


def own(path: Path, wanted: RunSpec, count: int, workers: int = 1) -> dict[str, tuple[object, ...]]:
    with RunFolder.open(path, wanted) as folder:
        run(folder, plan(wanted, cases(count)), workers)
    return content(path)


def share(
    path: Path,
    wanted: RunSpec,
    count: int,
    workers: int = 2,
    limits: Limits = LIMITS,
    progress: Progress = silent,
) -> RunCounts:
    runner = EpisodeRunner(str(path), wanted.world, {}, limits)
    with (
        shared_pool(workers, limits) as pool,
        pool.crew(runner) as crew,
        RunFolder.open(path, wanted) as folder,
    ):
        return run(folder, plan(wanted, cases(count)), workers, progress, crew=crew)


def without_attempts(found: dict[str, tuple[object, ...]]) -> dict[str, tuple[object, ...]]:
    return {key: values[1:] for key, values in found.items()}


def errors(path: Path) -> dict[str, str]:
    return {row.case.id: row.error for row in RunFolder.open(path).rows() if row.status == "crashed"}


def host_pid() -> int:
    (child,) = [c for c in multiprocessing.active_children() if c.name == "heedful-policies"]
    assert child.pid is not None
    return child.pid


@pytest.mark.parametrize("workers", [1, 3])
def test_shared_policies_give_the_rows_of_own_copies(tmp_path: Path, workers: int) -> None:
    wanted = spec("", "keep")
    reference = own(tmp_path / "own", wanted, 6)
    assert share(tmp_path / "shared", wanted, 6, workers) == RunCounts(0, 12, 0)
    assert content(tmp_path / "shared") == reference
    assert {row.instruction_received for row in RunFolder.open(tmp_path / "shared").rows()} == {"RED", "BLUE"}
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("rest", "error"),
    [
        ("raise", "policy.act at step 4: ValueError: blue is too much"),
        ("exit", "policy.act at step 4: SystemExit: 3"),
        ("begin", "policy.reset: ValueError: what is blue?"),
        ("mute", "policy.act at step 4: Mute: its message cannot be read (ValueError)"),
        ("unpicklable", "policy.act at step 4: Unpicklable: this and that"),
    ],
)
def test_a_policy_that_raises_crashes_the_episodes_at_fault_as_an_own_copy_does(
    tmp_path: Path, rest: str, error: str
) -> None:
    reference = own(tmp_path / "own", spec(rest), 6)
    assert share(tmp_path / "shared", spec(rest), 6, 3) == RunCounts(0, 3, 3)
    assert content(tmp_path / "shared") == reference
    assert errors(tmp_path / "shared") == dict.fromkeys(["case/1", "case/3", "case/5"], error)
    crashed = next(row for row in RunFolder.open(tmp_path / "shared").rows() if row.status == "crashed")
    said = (tmp_path / "shared" / "rollouts" / crashed.id / "error.txt").read_text()
    assert "In the process that holds the policies:" in said and "shared_doubles.py" in said


def test_one_bad_session_costs_no_other_its_actions(tmp_path: Path) -> None:
    assert share(tmp_path / "run", spec("no-numbers"), 6, 3) == RunCounts(0, 3, 3)
    error = "policy.act at step 0: TypeError: float() argument must be a string or a real number, not 'Odd'"
    assert errors(tmp_path / "run") == dict.fromkeys(["case/1", "case/3", "case/5"], error)


def test_too_few_chunks_are_refused(tmp_path: Path) -> None:
    share(tmp_path / "two", spec("count"), 1)
    assert errors(tmp_path / "two") == {
        "case/0": "policy.act at step 0: TypeError: act_many returned 0 chunks of actions for 1 sessions"
    }


@pytest.mark.parametrize(
    ("rest", "reason"),
    [
        ("hang", "killed after 1 s in policy.act at step 4"),
        ("die", "the process that holds the policies died (signal 9)"),
    ],
)
def test_an_episode_that_ends_the_process_is_given_up_and_no_other(
    tmp_path: Path, rest: str, reason: str
) -> None:
    reference = own(tmp_path / "own", spec(""), 4)
    counts = share(tmp_path / "shared", spec(rest), 4, 3, Limits(call_s=1.0))
    assert (counts.finished, counts.crashed) == (2, 2)
    found = errors(tmp_path / "shared")
    assert set(found) == {"case/1", "case/3"}
    assert all(text.startswith(f"{reason}; tried ") for text in found.values())
    rows = {row.case.id: row for row in RunFolder.open(tmp_path / "shared").rows()}
    assert rows["case/1"].attempts >= 2 and rows["case/3"].attempts >= 2
    good = {v[0].case.id: v[1:] for v in reference.values()}  # type: ignore[attr-defined]
    for rollout in RunFolder.open(tmp_path / "shared").iter_rollouts():
        if rollout.trajectory is not None:
            assert tuple(rollout.trajectory.object_positions_m.ravel()) == good[rollout.row.case.id]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_is_killed_or_stopped_costs_what_was_under_way_a_retry(
    tmp_path: Path, number: int
) -> None:
    reference = own(tmp_path / "own", spec("slow"), 10)

    def stop_the_host(stage: str, done: int, total: int, note: str = "") -> None:
        if done == 4:
            os.kill(host_pid(), number)

    limits = Limits(episode_s=2.0, call_s=2.0)
    counts = share(tmp_path / "shared", spec("slow"), 10, 2, limits, stop_the_host)
    assert counts.finished == 10 and 1 <= counts.retried <= 2
    assert without_attempts(content(tmp_path / "shared")) == without_attempts(reference)
    assert sorted(row.attempts for row in RunFolder.open(tmp_path / "shared").rows())[-3] == 1
    assert multiprocessing.active_children() == []


def test_who_ends_the_process_in_another_s_call_is_found_by_running_one_at_a_time(tmp_path: Path) -> None:
    counts = share(tmp_path, spec("later"), 6, 3)
    assert (counts.finished, counts.crashed) == (3, 3)
    assert set(errors(tmp_path)) == {"case/1", "case/3", "case/5"}


ELSEWHERE = """
from shared_doubles import *
from heedful.spec.contract import PolicyContract

class MyContract(PolicyContract):
    pass

class MyError(Exception):
    pass

class Mine(Sharable):
    @property
    def contract(self):
        return MyContract(**vars(super().contract))

    def _fail(self):
        if self.rest == "raise":
            raise MyError("blue is too much")
"""


@pytest.mark.parametrize("rest", ["", "subclass", "raise"])
def test_the_classes_of_a_policy_s_module_stay_where_it_was_loaded(
    tmp_path: Path, rest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere.py").write_text(ELSEWHERE)
    monkeypatch.chdir(tmp_path)  # the folder is put on the path where the policy is made, not in workers
    policy = PolicyEntry(f"python:elsewhere:Mine:{rest}", rest)
    crashed = 2 if rest == "raise" else 0
    assert share(Path("run"), RunSpec("double", {}, (policy,), "double"), 4) == RunCounts(
        0, 4 - crashed, crashed
    )
    assert set(errors(Path("run")).values()) <= {"policy.act at step 4: MyError: blue is too much"}


@dataclass(eq=False)
class Clerk:
    index: int | None
    waits: bool


@pytest.mark.parametrize(
    ("running", "waiting", "begun"),
    [
        ([1, 2], [3, 4], [3, 4]),
        ([1], [8, 3], []),  # a suspect waits until nobody else is at work, and nobody else begins
        ([], [3, 8, 9], [8]),
        ([8], [3, 9], []),
        ([], [3], [3]),
    ],
)
def test_a_suspect_is_run_by_itself(running: list[int], waiting: list[int], begun: list[int]) -> None:
    team: list[Any] = [
        Clerk(None, False),
        *(Clerk(i, False) for i in running),
        *(Clerk(i, True) for i in waiting),
    ]
    assert [worker.index for worker in may_begin(team, {8, 9})] == begun


def test_a_worker_that_is_killed_costs_its_episode_a_retry_and_the_others_nothing(tmp_path: Path) -> None:
    reference = own(tmp_path / "own", spec("slow"), 10)

    def kill_a_worker(stage: str, done: int, total: int, note: str = "") -> None:
        if done == 4:
            workers = [c for c in multiprocessing.active_children() if c.name == "heedful-worker"]
            assert workers[0].pid is not None
            os.kill(workers[0].pid, signal.SIGKILL)

    counts = share(tmp_path / "shared", spec("slow"), 10, progress=kill_a_worker)
    assert counts.finished == 10 and counts.retried <= 1
    assert without_attempts(content(tmp_path / "shared")) == without_attempts(reference)


def test_a_policy_that_kills_as_it_is_loaded_is_given_up(tmp_path: Path) -> None:
    assert share(tmp_path, spec("load"), 1, 1).crashed == 1
    assert errors(tmp_path) == {
        "case/0": "the process that holds the policies died (signal 9); tried 2 times"
    }


def test_a_policy_that_cannot_be_shared_runs_in_the_workers_where_the_folder_needs_it(tmp_path: Path) -> None:
    wanted = spec("privileged")
    reference = own(tmp_path / "own", wanted, 2)
    assert share(tmp_path / "shared", wanted, 2) == RunCounts(0, 2, 0)
    assert content(tmp_path / "shared") == reference


def test_no_workers_are_refused_before_anything_is_started() -> None:
    with pytest.raises(UserError, match="at least 1"), shared_pool(0):
        pass
    assert multiprocessing.active_children() == []


def dies_at_start(*_: object) -> None:
    os._exit(7)


def test_a_process_that_cannot_start_stops_the_work_with_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heedful.rollouts.shared.host_process.main", dies_at_start)
    with (
        pytest.raises(UserError, match="The process that holds the policies dies as it starts"),
        shared_pool(1) as pool,
    ):
        pool.map(time.sleep, [600])
    assert multiprocessing.active_children() == []
