"""A small run of the tabletop world, exported."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from heedful.spec.errors import UserError
from heedful.spec.run import RunSpec
from heedful.store.datasets.labels import read_labels
from heedful.store.datasets.meta import read_meta, read_table
from heedful.store.run_folder import RunFolder
from heedful.workflows.exporting import Exported, export
from heedful.workflows.judging import judge
from heedful.workflows.running import entries, run
from heedful.workflows.scene_entropy import scene_entropies

OPTIONS = {"pairs": "color,object", "rollouts": 2, "in_distribution": 2, "empty": 1}
POLICY = "planted:color>object>spatial>verb>size"


@pytest.fixture(scope="module")
def unjudged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exported") / "run"
    run(RunSpec("factors", OPTIONS, entries([POLICY])), path, workers=1)
    return path


@pytest.fixture(scope="module")
def judged(unjudged: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = shutil.copytree(unjudged, tmp_path_factory.mktemp("judged") / "run")
    judge(path)
    return path


def made(path: Path, out: Path, **options: object) -> Exported:
    return export(path, out, image_size_px=32, workers=1, **options)  # type: ignore[arg-type]


def test_without_verdicts_nothing_is_guessed(unjudged: Path, tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match="is not judged, so there is no telling a success; run `heedful judge"
    ):
        made(unjudged, tmp_path / "d", only="success")
    assert not (tmp_path / "d").exists()
    found = made(unjudged, tmp_path / "plain")
    assert not found.rewards and not found.judge and "is not judged" in found.remarks[0]
    assert "next.done" in found.dataset.features and "next.success" not in found.dataset.features


def test_rewards_are_the_scores_of_the_judge(judged: Path, tmp_path: Path) -> None:
    mixed = made(judged, tmp_path / "mixed")
    assert not mixed.rewards and mixed.left_out == {}
    assert "rollouts have no score" in mixed.remarks[0]
    assert mixed.remarks[0].endswith(
        "To have them: `--arm in_distribution` takes arms in which every rollout has one; "
        "`--only success` takes those that succeeded."
    )
    arm = made(judged, tmp_path / "arm", arms=["in_distribution"])
    assert arm.rewards and arm.dataset.episodes == 2 and arm.remarks == ()
    with pytest.raises(UserError, match="holds another dataset"):
        made(judged, tmp_path / "arm")
    scored = made(judged, tmp_path / "scored", only="success")
    assert scored.rewards and scored.remarks == ()
    assert scored.left_out == {"where nothing would have been a success": 5}
    folder = RunFolder.open(judged)
    verdicts = folder.judgement()
    frames = read_table(tmp_path / "scored/data/chunk-000/file-000.parquet")
    meta = read_meta(tmp_path / "scored")
    ends = [episode["dataset_to_index"] - 1 for episode in meta.episodes]
    assert np.flatnonzero(frames["next.success"].to_numpy()).tolist() == ends
    assert frames["next.reward"].to_numpy().sum() == len(ends) == 2
    for note in meta.notes["episodes"]:
        assert verdicts[note["id"]].label == note["source"]["verdict"] == "success"
        assert note["source"]["judge"] == "factors"


def test_the_words_and_numbers_are_those_of_the_run(unjudged: Path, tmp_path: Path) -> None:
    made(unjudged, tmp_path / "d", images="png")
    folder, meta = RunFolder.open(unjudged), read_meta(tmp_path / "d")
    rows = {row.id: row for row in folder.rows()}
    notes = [{"id": note["id"], **note["source"]} for note in meta.notes["episodes"]]
    assert {note["id"] for note in notes} == set(rows)
    assert [note["case"] for note in notes] == sorted(row.case.id for row in rows.values())
    frames = read_table(tmp_path / "d/data/chunk-000/file-000.parquet", ["action", "observation.state"])
    actions = np.array(frames["action"].to_pylist(), dtype=np.float32)
    states = np.array(frames["observation.state"].to_pylist(), dtype=np.float32)
    for note, episode in zip(notes, meta.episodes, strict=True):
        row, trajectory = rows[note["id"]], folder.trajectory(note["id"])
        part = slice(episode["dataset_from_index"], episode["dataset_to_index"])
        assert episode["tasks"] == [row.instruction_received] and episode["length"] == row.steps
        assert np.array_equal(actions[part], trajectory.command[1:, 0].astype(np.float32))
        assert np.array_equal(states[part, :7], trajectory.joints_rad[:-1, 0].astype(np.float32))
        assert (note["arm"], note["pair"], note["base_seed"]) == (row.case.arm, "color,object", 0)
        assert note["policy"] == POLICY
    assert "" in meta.tasks  # the empty instruction is a task string like any other
    assert set(read_labels(meta, "scene").values) == {note["scene"] for note in notes}


def test_only_what_is_asked_for_is_taken(judged: Path, tmp_path: Path) -> None:
    found = made(judged, tmp_path / "d", arms=["in_distribution", "empty_instruction"])
    assert found.dataset.episodes == 3 and found.left_out == {"not asked for": 4}
    arms = [note["source"]["arm"] for note in read_meta(tmp_path / "d").notes["episodes"]]
    assert sorted(arms) == ["empty_instruction", "in_distribution", "in_distribution"]
    with pytest.raises(UserError, match="nothing to export .*left out of 7 rollouts: 2 that succeeded"):
        made(judged, tmp_path / "e", only="failure")
    assert not (tmp_path / "e").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"to": "lerobt"}, "Unknown format 'lerobt'. Did you mean 'lerobot'"),
        ({"only": "succes"}, "Did you mean 'success'"),
        ({"images": "jpg"}, "Valid: png, video"),
        ({"policies": ["planted:color"]}, "Unknown policy 'planted:color'"),
        ({"arms": ["confict"]}, "Did you mean 'conflict'"),
    ],
)
def test_a_wrong_name_is_refused_before_there_is_a_folder(
    unjudged: Path, tmp_path: Path, options: dict[str, object], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        made(unjudged, tmp_path / "d", **options)
    assert not (tmp_path / "d").exists()


def test_crashed_rollouts_and_those_without_a_step_are_counted(unjudged: Path, tmp_path: Path) -> None:
    rows = unjudged / "episodes.jsonl"
    whole = rows.read_text()
    changed = [json.loads(line) for line in whole.splitlines()]
    changed[0] |= {"status": "crashed", "error": "policy.act at step 3: ValueError: no"}
    changed[1] |= {"steps": 0}
    try:
        rows.write_text("".join(f"{json.dumps(row)}\n" for row in changed))
        found = made(unjudged, tmp_path / "d")
    finally:
        rows.write_text(whole)
    assert found.dataset.episodes == 5
    assert found.left_out == {"crashed": 1, "ended before the first action": 1}


def test_the_scene_entropy_of_an_export(unjudged: Path, tmp_path: Path) -> None:
    made(unjudged, tmp_path / "d", arms=["conflict"])
    (found,) = scene_entropies([tmp_path / "d"], "arm").datasets
    # One scene label, two instructions, equally often.
    assert found.entropy.bits == 1.0 and found.entropy.tasks == 2 and found.where == "meta/heedful.json"
