from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rollout_doubles import DoubleWorld, cases, spec

from heedful.rollouts.export import Wanted, export, recorded
from heedful.rollouts.plan import plan
from heedful.rollouts.run import run
from heedful.spec.errors import UserError
from heedful.spec.state import Trajectory
from heedful.store.datasets import check_dataset
from heedful.store.run_folder import RunFolder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    path = tmp_path_factory.mktemp("run")
    with RunFolder.open(path, spec("random")) as opened:
        run(opened, plan(opened.spec, cases(6)), workers=1)
    return RunFolder.open(path)


def wanted(folder: RunFolder, score: float | None = None) -> list[Wanted]:
    rows = sorted(folder.rows(), key=lambda row: row.case.id)
    return [Wanted(row, score, score == 1.0, {"case": row.case.id}) for row in rows]


def files(out: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file() and p.name != ".lock"
    }


def test_a_frame_is_what_was_seen_before_its_action(folder: RunFolder) -> None:
    world, one = DoubleWorld(), wanted(folder, 1.0)[0]
    states = folder.trajectory(one.row.id)
    found = recorded(world, one, states, 16, "png")
    assert len(found) == one.row.steps == len(states) - 1
    assert np.array_equal(found.numbers["ee_state"][:, :3], states.ee_position_m[:-1, 0])
    assert np.array_equal(found.numbers["actions"], states.command[1:, 0])
    heights = (states.ee_position_m[:-1, 0, 2] * 500).clip(0, 255).astype(np.uint8)
    assert set(found.images_hwc_u8) == {"agent", "wrist"}  # all that the world has
    assert np.array_equal(found.images_hwc_u8["agent"][:, 0, 0, 1], heights)
    assert found.task == one.row.instruction_received == "RED"  # the double changes what it is told
    assert found.numbers["done"].tolist() == [False] * (len(found) - 1) + [True]
    assert found.numbers["reward"].tolist() == [0.0] * (len(found) - 1) + [1.0]
    assert found.numbers["success"].tolist() == found.numbers["done"].tolist()


def test_without_a_score_there_is_no_reward(folder: RunFolder) -> None:
    one = wanted(folder)[0]
    found = recorded(DoubleWorld(), one, folder.trajectory(one.row.id), 16, "video")
    assert set(found.numbers) == {"joint_state", "ee_state", "actions", "done"}


def test_two_robots_are_refused(folder: RunFolder) -> None:
    one = wanted(folder)[0]
    states = folder.trajectory(one.row.id)
    two: Trajectory = replace(states, command=np.repeat(states.command, 2, axis=1))
    with pytest.raises(UserError, match="has 2 robots; only rollouts of one can be exported"):
        recorded(DoubleWorld(), one, two, 16, "video")


@pytest.mark.parametrize("images", ["video", "png"])
def test_it_does_not_depend_on_the_workers_nor_on_an_interruption(
    folder: RunFolder, tmp_path: Path, images: str
) -> None:
    class Stopped(Exception):
        pass

    told: list[int] = []

    def stopping(stage: str, done: int, total: int, note: str = "") -> None:
        told.append(done)
        if done == 3:
            raise Stopped

    export(folder, wanted(folder, 1.0), tmp_path / "whole", 16, images, workers=2)  # type: ignore[arg-type]
    with pytest.raises(Stopped):
        export(folder, wanted(folder, 1.0), tmp_path / "d", 16, images, 1, stopping)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="is unfinished; run the same command again"):
        check_dataset(tmp_path / "d")
    kept = len(list((tmp_path / "d/.staging").glob("*.npz")))
    assert kept >= 3
    told.clear()
    export(
        folder,
        wanted(folder, 1.0),
        tmp_path / "d",
        16,
        images,  # type: ignore[arg-type]
        workers=1,
        progress=lambda stage, done, total, note="": told.append(done),
    )
    assert told == list(range(kept, 7))  # what was drawn is not drawn again
    assert files(tmp_path / "d") == files(tmp_path / "whole")
    assert check_dataset(tmp_path / "d").episodes == 6


def test_a_finished_dataset_is_left_as_it_is_and_another_one_is_refused(
    folder: RunFolder, tmp_path: Path
) -> None:
    export(folder, wanted(folder), tmp_path / "d", 16, workers=1)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "d").rglob("*.parquet")}
    export(folder, wanted(folder), tmp_path / "d", 16, workers=1)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "d").rglob("*.parquet")} == before
    with pytest.raises(UserError, match="image_size: 16 in the folder, 24 asked for"):
        export(folder, wanted(folder), tmp_path / "d", 24, workers=1)
    with pytest.raises(UserError, match="scored: False in the folder, True asked for"):
        export(folder, wanted(folder, 1.0), tmp_path / "d", 16, workers=1)


def test_a_damaged_rollout_is_named_with_its_remedy(folder: RunFolder, tmp_path: Path) -> None:
    one = wanted(folder)[0]
    path = folder.path / "rollouts" / one.row.id / "trajectory.parquet"
    whole = path.read_bytes()
    try:
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(UserError, match=f"Episode {one.row.id}: .* is damaged. Delete the folder"):
            export(folder, [one], tmp_path / "d", 16, workers=1)
    finally:
        path.write_bytes(whole)


def test_a_row_that_says_another_number_of_steps_than_its_trajectory_is_refused(
    folder: RunFolder, tmp_path: Path
) -> None:
    first, *others = wanted(folder)
    wrong = replace(first, row=replace(first.row, steps=first.row.steps + 2))
    with pytest.raises(
        UserError, match=rf"{first.row.id} has {wrong.row.steps} steps .* has {first.row.steps}\. "
    ):
        export(folder, [wrong, *others], tmp_path / "d", image_size=16, workers=1)


def test_a_dataset_of_others_is_not_touched(folder: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta/info.json").write_text('{"codebase_version": "v3.0"}')
    with pytest.raises(UserError, match="holds another dataset, which heedful did not write"):
        export(folder, wanted(folder), tmp_path, image_size=16, workers=1)
    assert [str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")] == ["meta", "meta/info.json"]


def test_a_world_that_cannot_show_states_is_refused_before_there_is_a_folder(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(DoubleWorld, "show")
    with pytest.raises(UserError, match="World 'double' cannot show recorded states"):
        export(folder, wanted(folder), tmp_path / "d", 16)
    assert not (tmp_path / "d").exists()
