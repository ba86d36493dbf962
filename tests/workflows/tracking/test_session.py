"""What a tracker is told, and when: the session with a tracker that only listens."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from heedful.spec.case import Case, PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.rollout import EpisodeRow
from heedful.spec.run import RunSpec
from heedful.store.findings_file import MEND
from heedful.store.run_folder import RunFolder
from heedful.store.tracking_file import NAME, read_tracked
from heedful.workflows.judging import judge
from heedful.workflows.reporting import report
from heedful.workflows.running import resolve, run
from heedful.workflows.tracking.seam import Aggregates, Beginning, Number
from heedful.workflows.tracking.session import EVERY_S, Tracking

SMALL = {"pairs": "color,object", "rollouts": 4, "in_distribution": 0, "empty": 0}
ONE, OTHER = PolicyEntry("planted:color>object", "one/a"), PolicyEntry("planted:object>color", "other")


class Listener:
    """A tracker that keeps what it is told."""

    def __init__(self) -> None:
        self.beginnings: list[Beginning] = []
        self.logged: list[tuple[int, Mapping[str, Number]]] = []
        self.finished: list[tuple[int, Aggregates | None]] = []

    def begin(self, beginning: Beginning) -> None:
        self.beginnings.append(beginning)

    def log(self, step: int, values: Mapping[str, Number]) -> None:
        self.logged.append((step, values))

    def finish(self, step: int, aggregates: Aggregates | None) -> None:
        self.finished.append((step, aggregates))

    def close(self) -> None:
        pass


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def spec() -> RunSpec:
    return resolve(RunSpec("factors", SMALL, (ONE, OTHER)))[0]


@pytest.fixture
def folder(tmp_path: Path, spec: RunSpec) -> RunFolder:
    RunFolder.open(tmp_path / "run", spec).close()
    return RunFolder.open(tmp_path / "run")


def cases(spec: RunSpec) -> list[Case]:
    return resolve(spec)[1]


def row(spec: RunSpec, number: int, policy: PolicyEntry = ONE, **changes: object) -> EpisodeRow:
    made = EpisodeRow(str(number), cases(spec)[0], policy, "finished", "grasp", 0)
    return replace(made, **changes)


def session(listener: Listener, clock: Clock | None = None) -> tuple[Tracking, list[str]]:
    told: list[str] = []
    return Tracking("wandb", listener, told.append, clock or Clock()), told


def test_counts_are_told_by_policy_at_a_bounded_rate(folder: RunFolder, spec: RunSpec) -> None:
    listener, clock = Listener(), Clock()
    tracking, _ = session(listener, clock)
    add = tracking.episodes(folder, [row(spec, 0, status="crashed")], 8)
    add(row(spec, 1))
    add(row(spec, 2, OTHER, attempts=2))  # too soon
    add(row(spec, 3, OTHER))
    assert [step for step, _ in listener.logged] == [2]
    clock.now += EVERY_S
    add(row(spec, 4))
    assert [step for step, _ in listener.logged] == [2, 5]
    add(row(spec, 5))
    tracking.finish()  # nothing is left untold
    assert [step for step, _ in listener.logged] == [2, 5, 6]
    assert listener.finished == [(6, None)]
    assert listener.logged[-1][1] == {
        "episodes/done": 6,
        "episodes/total": 8,
        "episodes/finished": 5,
        "episodes/crashed": 1,
        "episodes/retried": 1,
        "policies/one:a/finished": 3,
        "policies/one:a/crashed": 1,
        "policies/one:a/retried": 0,
        "policies/other/finished": 2,
        "policies/other/crashed": 0,
        "policies/other/retried": 1,
    }


def test_a_folder_gone_on_with_is_the_same_run_and_its_steps_only_grow(
    folder: RunFolder, spec: RunSpec
) -> None:
    listener = Listener()
    first, _ = session(listener)
    add = first.episodes(folder, [], 4)
    for number in range(4):
        add(row(spec, number, status="crashed"))
    first.finish()
    second, _ = session(listener)
    add = second.episodes(folder, [row(spec, 0)], 4)  # three crashed ones run again
    add(row(spec, 1))
    second.measured(folder, {"policies": []})
    second.finish()
    assert [step for step, _ in listener.logged] == [1, 4, 5]
    assert listener.finished[1][0] == 6
    one, other = listener.beginnings
    assert one.id == other.id
    assert one.config["options"] == spec.options
    assert read_tracked(folder.path, "wandb").step == 6


def test_a_folder_that_is_moved_stays_the_run_and_one_made_anew_is_another(
    folder: RunFolder, spec: RunSpec, tmp_path: Path
) -> None:
    listener = Listener()

    def begun(path: Path) -> None:
        tracking, _ = session(listener)
        tracking.begin(RunFolder.open(path))
        tracking.close()

    begun(folder.path)
    folder.path.rename(tmp_path / "moved")
    begun(tmp_path / "moved")
    RunFolder.open(folder.path, spec).close()
    begun(folder.path)
    first, moved, new = (beginning.id for beginning in listener.beginnings)
    assert first == moved != new


def test_one_process_mirrors_a_run_at_a_time(folder: RunFolder) -> None:
    first, _ = session(Listener())
    first.claim(folder.path)
    with pytest.raises(UserError, match="in use by another process"):
        session(Listener())[0].claim(folder.path)
    first.close()
    session(Listener())[0].claim(folder.path)


def test_what_is_damaged_is_refused_before_the_run(folder: RunFolder) -> None:
    (folder.path / NAME).write_text('{"wandb": {"step": 1}}')
    with pytest.raises(UserError, match="tracking.json: wandb: id: is missing.*delete it"):
        session(Listener())[0].begin(folder)


def test_a_step_that_cannot_be_kept_ends_nothing_and_is_said_once(folder: RunFolder, spec: RunSpec) -> None:
    listener, clock = Listener(), Clock()
    tracking, told = session(listener, clock)
    add = tracking.episodes(folder, [], 4)
    (folder.path / NAME).unlink()
    (folder.path / NAME).mkdir()
    for number in range(3):
        clock.now += EVERY_S
        add(row(spec, number))
    assert [step for step, _ in listener.logged] == [1, 2, 3]
    assert len(told) == 1
    assert told[0].startswith("warning: wandb: the step is not kept:")


def test_a_run_and_its_report_are_mirrored_as_they_are_on_disk(tmp_path: Path) -> None:
    policy = PolicyEntry("planted:color>object>spatial>verb>size", "mine")
    listener = Listener()
    tracking, told = session(listener)
    path = tmp_path / "run"
    run(RunSpec("factors", SMALL, (policy,)), path, workers=1, tracking=tracking)
    metrics = judge(path)
    report(path, videos=False, tracking=tracking)
    tracking.finish()
    assert listener.logged[-1][0] == 4
    assert listener.logged[-1][1]["policies/mine/finished"] == len(RunFolder.open(path).rows()) == 4
    ((step, found),) = listener.finished
    assert step == 5
    assert found.report == str(path / "report" / "index.html")
    fdr = metrics["policies"][0]["pairs"][0]["fdr"]
    assert found.values["factors/mine/color>object/fdr/low"] == fdr["low"]
    assert len(listener.beginnings) == 1
    assert told == []


def test_a_closed_loop_is_no_single_run(tmp_path: Path) -> None:
    MEND.write(tmp_path, {})
    listener = Listener()
    with pytest.raises(UserError, match="conflicts"):
        report(tmp_path, tracking=session(listener)[0])
    assert listener.beginnings == []
