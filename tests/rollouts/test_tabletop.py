"""The tabletop, its experts, the planted policy and the store together."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from heedful.rollouts.collect import collect
from heedful.rollouts.expert import succeeded
from heedful.rollouts.loop import run_episode
from heedful.rollouts.plan import plan
from heedful.rollouts.replay import draw, replay_video
from heedful.rollouts.run import run
from heedful.spec.case import PolicyEntry
from heedful.spec.contract import CameraContract
from heedful.spec.manipulation import read
from heedful.spec.run import RunSpec
from heedful.spec.seeds import seed_sequence
from heedful.spec.state import Trajectory
from heedful.store.datasets import check_dataset, load_demonstrations
from heedful.store.run_folder import RunFolder
from heedful.store.video import measure_mp4
from heedful.suites.factors import make as make_suite
from heedful.worlds.tabletop import make as make_world

OPTIONS = {"pairs": "color,object", "rollouts": 4, "in_distribution": 2, "empty": 0, "demos": 3}
PLANTED = PolicyEntry("planted:color>object>spatial>verb>size", "planted")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    suite = make_suite()
    spec = RunSpec("factors", suite.options(OPTIONS), (PLANTED,))
    path = tmp_path_factory.mktemp("runs") / "co"
    with RunFolder.open(path, spec) as opened:
        counts = run(opened, plan(opened.spec, suite.cases(opened.spec.options)))
    assert (counts.finished, counts.crashed) == (6, 0)
    return RunFolder.open(path)


def equal(a: Trajectory, b: Trajectory) -> bool:
    return all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(Trajectory))


def test_a_planted_policy_follows_the_color_in_conflicts_and_succeeds_in_distribution(
    folder: RunFolder,
) -> None:
    for rollout in folder.iter_rollouts():
        scoring, seen = rollout.row.case.scoring, read(rollout.trajectory)
        if rollout.row.case.arm == "conflict":
            assert seen.object == scoring["follows_1"]
        else:
            assert (seen.object, seen.verb) == (scoring["target"], scoring["verb"])
        assert rollout.row.instruction_received == rollout.row.case.instruction.text


def test_a_rollout_run_again_in_this_process_is_the_same_bit_for_bit(folder: RunFolder) -> None:
    from heedful.policies.references import load

    world, policy = make_world(), load(PLANTED.ref)
    cases = make_suite().cases(folder.spec.options)
    for episode in plan(folder.spec, cases)[3:6]:
        row, trajectory = run_episode(world, policy, episode)
        assert row.id in {r.id for r in folder.rows()}
        assert equal(trajectory, folder.trajectory(row.id))
    world.close()


def test_a_recorded_rollout_is_drawn_as_it_was_seen_and_becomes_a_video(folder: RunFolder) -> None:
    row = folder.rows()[0]
    trajectory = folder.trajectory(row.id)
    camera = CameraContract("agent", 64, 64)
    world = make_world()
    world.reset(row.case.scene, seed_sequence(row.base_seed, row.case.seed_key), "joint_absolute")
    live = world.observe((camera,)).images_hwc_u8["agent"]
    drawn = draw(world, row.case.scene, trajectory, (camera,))["agent"]
    world.close()
    assert np.array_equal(drawn[0], live)
    assert not np.array_equal(drawn[0], drawn[-1])
    assert measure_mp4(replay_video(folder, row, size=128)) == (len(trajectory), 128, 128, 20.0)


def test_demonstrations_of_the_real_experts_replay_to_success(tmp_path: Path) -> None:
    suite = make_suite()
    tasks = suite.tasks(suite.options(OPTIONS))
    counts = collect(tasks, tmp_path / "co", image_size=64, workers=1)
    assert counts.demonstrations == 3 and counts.failed == 0
    assert check_dataset(tmp_path / "co").cameras == {"agent": (64, 64), "wrist": (64, 64)}
    world = make_world()
    for task, demonstration in zip(tasks, load_demonstrations(tmp_path / "co"), strict=True):
        assert demonstration.task == task.instruction.text
        key = (task.seed_key, demonstration.attempts - 1)
        states = [world.reset(task.scene, seed_sequence(0, *key), "joint_absolute")]
        states += [world.step(action) for action in demonstration.actions]
        assert succeeded(task, Trajectory.stack(states))  # the recorded joint targets do the task again
        camera = CameraContract("wrist", 64, 64)
        world.reset(task.scene, seed_sequence(0, *key), "joint_absolute")
        first = world.observe((camera,)).images_hwc_u8["wrist"].astype(int)
        assert np.abs(demonstration.images_hwc_u8["wrist"][0] - first).mean() < 6
    world.close()
