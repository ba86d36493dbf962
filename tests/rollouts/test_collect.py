from pathlib import Path

import numpy as np
import pytest
from rollout_doubles import DoubleWorld, expert, tasks

from heedful.rollouts.collect import CollectCounts, collect
from heedful.rollouts.expert import attempt, recorded, succeeded
from heedful.spec.contract import CameraContract
from heedful.spec.errors import UserError
from heedful.store.datasets import check_dataset, load_demonstrations


def do(out: Path, count: int = 6, **options: object) -> CollectCounts:
    given = {"world": "double", "expert": expert, "image_size": 16, "workers": 1, **options}
    return collect(tasks(count), out, **given)


def files(out: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file() and p.name != ".lock"
    }


def test_a_recorded_attempt_holds_what_was_seen_before_each_action() -> None:
    world, (task,) = DoubleWorld(), tasks(1)
    done = next(
        a for a in (attempt(world, task, expert, 0, k) for k in range(9)) if succeeded(task, a.trajectory)
    )
    assert world.renders == 0  # attempts that fail cost no pictures
    found = recorded(world, task, done, 2, (CameraContract("agent", 16, 16),))
    assert world.renders == len(found)
    states = done.trajectory
    assert len(found) == len(states) - 1
    assert np.array_equal(found.ee_state[:, :3], states.ee_position_m[:-1, 0])
    assert np.array_equal(found.actions, states.command[1:, 0])
    assert np.array_equal(
        found.images_hwc_u8["agent"][:, 0, 0, 1], (states.ee_position_m[:-1, 0, 2] * 500).astype(np.uint8)
    )
    assert list(np.unique(found.phase)) == [0, 1, 2, 3, 4] and (np.diff(found.phase) >= 0).all()
    assert np.allclose(found.keypose[-1, :3], states.ee_position_m[-1, 0])  # where the last phase led
    assert (found.task, found.attempts, found.fps) == ("slide the red cube", 2, 20.0)


def test_the_label_is_the_clean_keypose_also_where_the_approach_is_noisy() -> None:
    world, (task,) = DoubleWorld(), tasks(1)
    missed = next(
        a for a in (attempt(world, task, expert, 0, k) for k in range(9)) if not succeeded(task, a.trajectory)
    )
    above = missed.keypose[0, 2] - missed.trajectory.object_positions_m[0, 0, 2]
    assert above == pytest.approx(0.1)  # the expert itself went 0.1 m higher


def test_only_successes_are_kept_failures_are_counted_and_the_dataset_checks(tmp_path: Path) -> None:
    counts = do(tmp_path / "d")
    assert counts.demonstrations == 6 and counts.failed == 0
    assert counts.attempts > 6  # about half of the attempts miss
    summary = check_dataset(tmp_path / "d")
    assert (summary.episodes, summary.attempts) == (6, counts.attempts)
    found = list(load_demonstrations(tmp_path / "d"))
    assert [d.source["id"] for d in found] == [task.id for task in tasks(6)]
    assert found[0].images_hwc_u8["wrist"].shape[1:] == (16, 16, 3)


def test_the_dataset_does_not_depend_on_workers_or_interruptions(tmp_path: Path) -> None:
    do(tmp_path / "one")
    do(tmp_path / "two", workers=2)

    class Stop(Exception):
        pass

    def stop(stage: str, done: int, total: int, note: str = "") -> None:
        if done == 3:
            raise Stop

    with pytest.raises(Stop):
        do(tmp_path / "three", progress=stop)
    told: list[int] = []
    do(tmp_path / "three", progress=lambda stage, done, total, note="": told.append(done))
    assert told[0] >= 3 and told[-1] == 6
    assert files(tmp_path / "one") == files(tmp_path / "two") == files(tmp_path / "three")
    before = files(tmp_path / "one")
    do(tmp_path / "one")
    assert files(tmp_path / "one") == before


def test_a_task_that_is_never_achieved_is_left_out_and_all_of_them_are_an_error(tmp_path: Path) -> None:
    counts = do(tmp_path / "d", 8, max_attempts=1)
    assert 0 < counts.failed < 8 and counts.demonstrations == 8 - counts.failed and counts.attempts == 8
    with pytest.raises(UserError, match="None of the 2 tasks was achieved"):
        collect(
            tasks(2, "lift"), tmp_path / "e", world="double", expert=expert, image_size=16, max_attempts=2
        )


def test_another_request_is_refused(tmp_path: Path) -> None:
    do(tmp_path / "d", 2)
    with pytest.raises(UserError, match="image_size: 16 in the folder, 32 asked for"):
        do(tmp_path / "d", 2, image_size=32)
    with pytest.raises(UserError, match=r"tasks: \{'count': 2"):
        do(tmp_path / "d", 3)
    with pytest.raises(UserError, match="nothing to collect"):
        do(tmp_path / "d", 0)
