from __future__ import annotations

import numpy as np
import pytest

from heedful.metrics.path_failures import Method, PolicyFailures, common_frame, path_failures
from heedful.metrics.rates import wilson
from heedful.spec.end_effector import EndEffectorPath, RecordedPaths

WORLD = Method("world")


def line(y: float, task: int = 0) -> np.ndarray:
    return np.linspace([0, y, 0.3], [0.4, y + task, 0.0], 30)


def episodes(
    task: str, offsets: list[float], success: bool, policy: str = "p", arm: str = "", cell: str = ""
) -> list[EndEffectorPath]:
    return [
        EndEffectorPath(
            policy, task, f"{arm}{success}{i}", success, line(y), arm=arm, cell=cell, category=cell[:1]
        )
        for i, y in enumerate(offsets)
    ]


SUCCESSES = [-0.02, -0.01, 0.0, 0.0, 0.01, 0.02]
NEAR, FAR = [0.015, -0.018], [0.08, -0.2, 0.5]


def found(paths: list[EndEffectorPath], method: Method = WORLD, **left_out: dict[str, int]) -> PolicyFailures:
    (one,) = path_failures(RecordedPaths(tuple(paths), left_out), method, np.random.default_rng(0))
    return one


def test_planted_near_and_far_failures_are_told_apart_at_every_threshold() -> None:
    paths = [
        *episodes("a", SUCCESSES, True),
        *episodes("a", NEAR, False),
        *episodes("a", FAR, False, arm="x"),
    ]
    result = found(paths)
    share = result.total.shares["max"]
    assert (share.near, share.far) == (2, 3)
    assert share.rate == share.naive == wilson(3, 5)  # one task: no interval over tasks
    assert result.total.successes == 6 and result.total.failures == 5 and not result.total.unclassified
    far = [s.far for s in result.total.shares.values()]
    assert far == sorted(far), "a stricter threshold never makes a failure near"


def test_several_tasks_widen_the_interval() -> None:
    paths = []
    for task in range(6):  # the tasks differ: all far, or all near
        paths += episodes(str(task), SUCCESSES, True)
        paths += episodes(str(task), [0.3 if task % 2 else 0.01] * 10, False)
    share = found(paths).total.shares["max"]
    assert share.rate.value == share.naive.value == 0.5
    assert share.rate.low < share.naive.low and share.rate.high > share.naive.high
    assert "6 tasks" in share.rate.method


def test_equal_episodes_have_equal_intervals_under_every_name() -> None:
    paths = []
    for task in "abc":
        paths += episodes(task, SUCCESSES, True, arm="paraphrase", cell="none/hint")
        paths += episodes(task, NEAR if task == "a" else FAR, False, arm="paraphrase", cell="none/hint")
    result = found(paths)
    assert result.total.shares == result.arms[0].shares == result.cells[0].shares


def test_a_task_with_too_few_successes_is_counted_and_left_out() -> None:
    paths = [*episodes("few", SUCCESSES[:4], True), *episodes("few", FAR, False)]
    paths += [*episodes("many", SUCCESSES, True), *episodes("many", NEAR, False)]
    result = found(paths)
    assert (result.total.failures, result.total.unclassified) == (5, 3)
    assert (result.total.shares["max"].near, result.total.shares["max"].far) == (2, 0)
    assert [t.name for t in result.tasks if t.corridor is None] == ["few"]
    assert found(paths, Method("world", least_successes=4)).total.unclassified == 0


def test_without_any_corridor_nothing_is_told_and_nothing_breaks() -> None:
    result = found(episodes("a", FAR, False))
    assert result.total.shares["max"].rate.value is None
    assert result.total.unclassified == 3


def test_controls_are_shown_and_not_counted_and_wordless_successes_make_no_corridor() -> None:
    paths = [
        *episodes("a", SUCCESSES, True, arm="original"),
        *episodes("a", [0.9], True, arm="empty_instruction"),  # by luck, somewhere else
        *episodes("a", [0.3], False, arm="original"),
        *episodes("a", [0.3, 0.4], False, arm="empty_instruction"),
        *episodes("a", [0.01, 0.5], False, arm="paraphrase", cell="none/hint"),
    ]
    result = found(paths)
    assert result.arms_counted == ("paraphrase",)
    assert result.tasks[0].corridor.thresholds_m["max"] < 0.03
    assert (result.total.failures, result.total.shares["max"].far) == (2, 1)
    arms = {g.name: g.shares["max"].far for g in result.arms}
    assert arms == {"original": 1, "empty_instruction": 2, "paraphrase": 1}
    assert [g.name for g in result.cells] == ["none/hint"]
    only_controls = found([p for p in paths if p.arm != "paraphrase"])
    assert only_controls.arms_counted == ("original",)


def test_every_policy_has_its_own_corridor() -> None:
    paths = [*episodes("a", SUCCESSES, True), *episodes("a", [0.3], False)]
    paths += [*episodes("a", [y + 0.3 for y in SUCCESSES], True, "q"), *episodes("a", [0.3], False, "q")]
    recorded = RecordedPaths(tuple(paths), {"crashes only": {"crashed": 4}})
    by_name = {r.name: r for r in path_failures(recorded, WORLD, np.random.default_rng(0))}
    assert by_name["p"].total.shares["max"].far == 1
    assert by_name["q"].total.shares["max"].far == 0
    assert by_name["crashes only"].left_out == {"crashed": 4}
    assert by_name["crashes only"].total.failures == 0


def test_episodes_are_told_apart_by_task_too() -> None:
    paths = [*episodes("a", SUCCESSES, True), *episodes("a", [0.01], False)]
    paths += [*episodes("b", SUCCESSES, True), *episodes("b", [0.5], False)]  # the same episode numbers
    share = found(paths).total.shares["max"]
    assert (share.near, share.far) == (1, 1)


@pytest.mark.parametrize(
    ("targets", "frame"),
    [
        ([(0.5, 0.0), (0.5, 0.0005)], "world"),
        ([(0.5, 0.0), (0.5, 0.1)], "target"),
        ([(0.5, 0.0), None], "world"),
    ],
)
def test_the_frame_follows_from_where_the_targets_stand(
    targets: list[tuple[float, float] | None], frame: str
) -> None:
    paths = [
        EndEffectorPath("p", "a", str(i), True, line(0.0), target_m=np.asarray([*t, 0.0]) if t else None)
        for i, t in enumerate(targets)
    ]
    assert common_frame(paths) == frame


def test_progress_reaches_the_end() -> None:
    told: list[tuple[int, int]] = []

    def tell(stage: str, done: int, total: int, note: str = "") -> None:
        told.append((done, total))

    paths = tuple(p for t in "abc" for p in episodes(t, SUCCESSES, True))
    path_failures(RecordedPaths(paths), WORLD, np.random.default_rng(0), tell)
    assert told[-1] == (18, 18)
