import json
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from heedful.spec.errors import UserError
from heedful.spec.images import area_resize
from heedful.store.datasets import Staging, check_dataset, layout, load_demonstrations, shards, write_dataset
from heedful.store.datasets.collection import Collection, check_request
from heedful.store.datasets.statistics import histogram, image_stats, number_stats


@pytest.fixture(scope="module")
def dataset(made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "co"
    return write_dataset(path, (made.demonstration(i, 12 + 5 * i) for i in range(4)))


@pytest.fixture
def copy(dataset: Path, tmp_path: Path) -> Path:
    return shutil.copytree(dataset, tmp_path / "copy")


def test_demonstrations_come_back(dataset: Path, made) -> None:
    for i, found in enumerate(load_demonstrations(dataset)):
        wanted = made.demonstration(i, 12 + 5 * i)
        assert found.task == wanted.task and found.attempts == 1 + i and found.source == wanted.source
        assert len(found) == len(wanted) and found.fps == 20.0
        for name in ("joint_state", "ee_state", "actions", "keypose"):
            assert np.array_equal(getattr(found, name), getattr(wanted, name).astype(np.float32))
        assert np.array_equal(found.phase, wanted.phase)
        for camera in ("agent", "wrist"):
            difference = np.abs(found.images_hwc_u8[camera].astype(int) - wanted.images_hwc_u8[camera])
            assert difference.mean() < 4
    assert i == 3


def test_images_are_made_smaller_by_area_and_cameras_can_be_left_out(dataset: Path) -> None:
    full = list(load_demonstrations(dataset))
    small = list(load_demonstrations(dataset, size_px=24, cameras=["wrist"]))
    assert [d.images_hwc_u8["wrist"].shape[1:] for d in small] == [(24, 24, 3)] * 4
    assert set(small[0].images_hwc_u8) == {"wrist"}
    assert np.array_equal(
        small[2].images_hwc_u8["wrist"], area_resize(full[2].images_hwc_u8["wrist"], 24, 24)
    )
    assert next(load_demonstrations(dataset, cameras=())).images_hwc_u8 == {}
    with pytest.raises(UserError, match="Did you mean 'wrist'"):
        load_demonstrations(dataset, cameras=["wirst"])


def test_the_files_are_those_of_lerobot_v3(dataset: Path) -> None:
    files = sorted(
        str(p.relative_to(dataset)) for p in dataset.rglob("*") if p.is_file() and p.name != ".lock"
    )
    assert files == [
        "data/chunk-000/file-000.parquet",
        "meta/episodes/chunk-000/file-000.parquet",
        "meta/heedful.json",
        "meta/info.json",
        "meta/stats.json",
        "meta/tasks.parquet",
        "videos/observation.images.agent/chunk-000/file-000.mp4",
        "videos/observation.images.wrist/chunk-000/file-000.mp4",
    ]
    info = json.loads((dataset / "meta/info.json").read_text())
    assert (info["codebase_version"], info["fps"], info["robot_type"]) == ("v3.0", 20, "panda")
    assert (info["total_episodes"], info["total_frames"], info["total_tasks"]) == (4, 78, 2)
    assert info["splits"] == {"train": "0:4"}
    assert info["features"]["observation.images.agent"]["shape"] == [64, 64, 3]
    assert info["features"]["action"] == {
        "dtype": "float32",
        "shape": [8],
        "names": [*(f"joint_{i}" for i in range(1, 8)), "gripper"],
    }
    data = pq.read_table(dataset / "data/chunk-000/file-000.parquet")
    assert str(data.schema.field("action").type) == "fixed_size_list<element: float>[8]"
    assert str(data.schema.field("annotation.phase").type) == "int64"
    assert data["index"].to_pylist() == list(range(78))
    assert data["frame_index"].to_pylist()[:14] == [*range(12), 0, 1]
    assert pq.ParquetFile(dataset / "data/chunk-000/file-000.parquet").num_row_groups == 4
    episodes = pq.read_table(dataset / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    second = episodes[1]
    assert (second["dataset_from_index"], second["dataset_to_index"], second["length"]) == (12, 29, 17)
    assert second["tasks"] == ["grasp the blue star"]
    assert second["videos/observation.images.wrist/from_timestamp"] == pytest.approx(0.6)
    assert second["videos/observation.images.wrist/to_timestamp"] == pytest.approx(1.45)
    assert second["stats/action/count"] == [17]
    assert np.shape(second["stats/observation.images.agent/q99"]) == (3, 1, 1)


def test_the_task_string_is_the_index_of_the_task_table(dataset: Path) -> None:
    table = pq.read_table(dataset / "meta/tasks.parquet")
    about = json.loads(table.schema.metadata[b"pandas"])
    assert about["index_columns"] == ["task"]
    assert table["task"].to_pylist() == ["lift the red cup", "grasp the blue star"]
    assert table["task_index"].to_pylist() == [0, 1]


def test_statistics_are_exact(dataset: Path, made) -> None:
    stats = json.loads((dataset / "meta/stats.json").read_text())
    actions = np.concatenate([made.demonstration(i, 12 + 5 * i).actions.astype(np.float32) for i in range(4)])
    assert stats["action"]["mean"] == pytest.approx(actions.astype(float).mean(0).tolist())
    assert stats["action"]["q90"] == pytest.approx(np.quantile(actions.astype(float), 0.9, axis=0).tolist())
    assert stats["action"]["count"] == [78]
    images = np.random.default_rng(0).integers(0, 200, (3, 8, 6, 3), dtype=np.uint8)
    found = image_stats(histogram(images), 3)
    pixels = images[:, ::2, ::2].reshape(-1, 3) / 255
    assert np.ravel(found["mean"]) == pytest.approx(pixels.mean(0))
    assert np.ravel(found["std"]) == pytest.approx(pixels.std(0))
    assert np.ravel(found["max"]) == pytest.approx(pixels.max(0))
    assert np.ravel(found["q50"]) == pytest.approx(np.quantile(pixels, 0.5, axis=0, method="inverted_cdf"))
    assert found["count"] == [3]
    assert number_stats(np.arange(5))["q50"] == [2.0]


def test_a_check_says_what_is_in_it(dataset: Path) -> None:
    summary = check_dataset(dataset)
    assert (summary.episodes, summary.frames, summary.fps) == (4, 78, 20)
    assert summary.cameras == {"agent": (64, 64), "wrist": (64, 64)}
    assert summary.tasks == {"lift the red cup": 2, "grasp the blue star": 2}
    assert (summary.attempts, summary.failed) == (10, 0)
    text = str(summary)
    assert "4 demonstrations, 78 frames at 20 Hz" in text and "2  lift the red cup" in text


@pytest.mark.parametrize(
    "name",
    [
        "data/chunk-000/file-000.parquet",
        "meta/episodes/chunk-000/file-000.parquet",
        "meta/tasks.parquet",
        "meta/stats.json",
        "meta/info.json",
        "videos/observation.images.agent/chunk-000/file-000.mp4",
    ],
)
@pytest.mark.parametrize("how", ["cut", "flip", "gone"])
def test_damage_is_found_and_the_file_named(copy: Path, name: str, how: str) -> None:
    path = copy / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x40
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(data if how == "flip" else data[: len(data) // 2])
    with pytest.raises(
        UserError, match=path.name.replace(".", r"\.") if how != "gone" else "missing|no dataset|info"
    ):
        check_dataset(copy)


def test_inconsistencies_are_found_in_a_dataset_of_others(copy: Path) -> None:
    (copy / "meta/heedful.json").unlink()
    assert check_dataset(copy).attempts is None
    info = json.loads((copy / "meta/info.json").read_text())
    for change, line in (
        ({"total_episodes": 5}, "number of episodes is 4, expected 5"),
        ({"total_frames": 79}, "total_frames is 79, expected 78"),
        ({"fps": 10}, "timestamp of frame 1"),
        ({"codebase_version": "v2.1"}, "has version v2.1; v3.0 is needed"),
    ):
        (copy / "meta/info.json").write_text(json.dumps({**info, **change}))
        with pytest.raises(UserError, match=line):
            check_dataset(copy)
    features = {**info["features"], "action": {"dtype": "float32", "shape": [7], "names": None}}
    (copy / "meta/info.json").write_text(json.dumps({**info, "features": features}))
    with pytest.raises(UserError, match="width of action is 8, expected 7"):
        check_dataset(copy)


def test_many_files_are_written_and_read_when_they_fill_up(
    made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards.layout, "DATA_FILE_MB", 1e-6)
    monkeypatch.setattr(shards.layout, "VIDEO_FILE_MB", 0.004)
    monkeypatch.setattr(shards.layout, "CHUNK_FILES", 2)
    path = write_dataset(tmp_path / "many", (made.demonstration(i, 15) for i in range(5)))
    assert (path / "data/chunk-002/file-000.parquet").exists()
    assert len(list((path / "videos/observation.images.agent").rglob("*.mp4"))) > 1
    assert check_dataset(path).episodes == 5
    for i, found in enumerate(load_demonstrations(path, cameras=["agent"])):
        assert np.array_equal(found.actions, made.demonstration(i, 15).actions.astype(np.float32))
        assert (
            np.abs(
                found.images_hwc_u8["agent"].astype(int) - made.demonstration(i, 15).images_hwc_u8["agent"]
            ).mean()
            < 4
        )


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"actions": np.zeros((24, 7))}, r"actions is \[24, 7\], expected \[24, 8\]"),
        ({"keypose": np.full((24, 5), np.nan)}, "keypose has numbers that are not finite"),
        (
            {"images_hwc_u8": {"agent": np.zeros((23, 8, 8, 3), np.uint8)}},
            r"images of agent are uint8 \[23, 8, 8, 3\]",
        ),
        ({"fps": 12.5}, "whole number of fps"),
    ],
)
def test_what_is_no_demonstration_is_refused(
    made, tmp_path: Path, changes: dict[str, object], line: str
) -> None:
    with pytest.raises(UserError, match=line):
        write_dataset(tmp_path / "bad", [made.demonstration(**changes)])


def test_demonstrations_must_agree(made, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cameras is .*they must be equal"):
        write_dataset(tmp_path / "bad", [made.demonstration(size=64), made.demonstration(size=32)])


REQUEST = {"base_seed": 0, "tasks": {"count": 3}}


def test_a_collection_goes_on_where_it_stopped(made, tmp_path: Path) -> None:
    keys = ["pair/0", "pair/1", "pair/2"]
    with Collection.open(tmp_path / "d", REQUEST, keys) as collection:
        collection.staging.add("pair/2", made.demonstration(2))
        with pytest.raises(UserError, match="in use by another process"):
            Collection.open(tmp_path / "d", REQUEST, keys)
    with pytest.raises(UserError, match="unfinished; run the same"):
        check_dataset(tmp_path / "d")
    with pytest.raises(UserError, match="base_seed: 0 in the folder, 1 asked for"):
        Collection.open(tmp_path / "d", {**REQUEST, "base_seed": 1}, keys)
    with Collection.open(tmp_path / "d", REQUEST, keys) as collection:
        assert [collection.staging.state(key) for key in keys] == [None, None, "demonstration"]
        collection.staging.fail("pair/1", 10)
        collection.staging.add("pair/0", made.demonstration(0))
        collection.finish()
        assert collection.complete and collection.counts() == (2, 1, 14)
    found = list(load_demonstrations(tmp_path / "d", cameras=()))
    assert [d.source["id"] for d in found] == ["pair/0", "pair/2"]  # the order of the keys, not of the work
    assert not (tmp_path / "d/.staging").exists()
    assert check_dataset(tmp_path / "d").failed == 1
    with Collection.open(tmp_path / "d", REQUEST, keys) as collection:
        assert collection.complete
    with pytest.raises(UserError, match="tasks: "):
        Collection.open(tmp_path / "d", {**REQUEST, "tasks": {"count": 4}}, keys)


@pytest.mark.parametrize("at", range(1, 4))
def test_killed_between_the_last_steps_it_is_finished_by_the_next(
    made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    class Killed(BaseException):
        pass

    renames = 0
    rename = Path.rename

    def killed(self: Path, target: Path) -> Path:
        nonlocal renames
        renames += 1
        if renames == at:
            raise Killed
        return rename(self, target)

    with Collection.open(tmp_path / "d", REQUEST, ["a"]) as collection:
        collection.staging.add("a", made.demonstration(0))
        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", killed)
            with pytest.raises(Killed):
                collection.finish()
    shutil.copytree(tmp_path / "d", tmp_path / "e")
    with Collection.open(tmp_path / "d", REQUEST, ["a"]) as collection:
        assert not collection.complete
        collection.finish()
    assert check_dataset(tmp_path / "d").episodes == 1
    write_dataset(tmp_path / "e", [made.demonstration(0), made.demonstration(1)])
    assert check_dataset(tmp_path / "e").episodes == 2 and not (tmp_path / "e/.staging").exists()


@pytest.mark.parametrize("part", ["data", "videos", "meta"])
@pytest.mark.parametrize("when", ["before it is opened again", "while it is open"])
def test_parts_of_something_else_are_left_alone(made, tmp_path: Path, part: str, when: str) -> None:
    def put_something_there() -> None:
        (tmp_path / part).mkdir()
        (tmp_path / part / "mine.txt").write_text("years of work")

    with Collection.open(tmp_path, REQUEST, ["a"]) as collection:
        collection.staging.add("a", made.demonstration(0))
        put_something_there()
        if when == "while it is open":
            with pytest.raises(UserError, match=f"holds {part}/, which is not of the dataset"):
                collection.finish()
    with pytest.raises(UserError, match=f"holds {part}/, which is not of the dataset"):
        Collection.open(tmp_path, REQUEST, ["a"])
    with pytest.raises(UserError, match=f"holds {part}/, which is not of the dataset"):
        write_dataset(tmp_path, [made.demonstration(0)])
    assert (tmp_path / part / "mine.txt").read_text() == "years of work"
    (tmp_path / part).rename(tmp_path.with_suffix(".moved"))
    with Collection.open(tmp_path, REQUEST, ["a"]) as collection:
        collection.finish()
    assert check_dataset(tmp_path).episodes == 1


def test_looking_whether_a_request_fits_writes_nothing(made, tmp_path: Path) -> None:
    check_request(tmp_path / "new", REQUEST)
    assert not (tmp_path / "new").exists()
    with Collection.open(tmp_path / "d", REQUEST, ["a"]) as collection:
        collection.staging.add("a", made.demonstration(0))
        check_request(tmp_path / "d", REQUEST)  # also while another process is at it
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(UserError, match="base_seed: 0 in the folder, 7 asked for"):
            check_request(tmp_path / "d", {**REQUEST, "base_seed": 7})
        assert sorted(tmp_path.rglob("*")) == before
        collection.finish()
    check_request(tmp_path / "d", REQUEST)
    with pytest.raises(UserError, match="base_seed: 0 in the folder, 7 asked for"):
        check_request(tmp_path / "d", {**REQUEST, "base_seed": 7})
    (tmp_path / "d/meta/heedful.json").unlink()
    with pytest.raises(UserError, match="holds another dataset, which heedful did not write"):
        check_request(tmp_path / "d", REQUEST)


def test_a_damaged_staged_file_names_the_remedy(made, tmp_path: Path) -> None:
    staging = Staging(tmp_path)
    staging.add("a b", made.demonstration(0))
    (path,) = staging.folder.glob("*.npz")
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(UserError, match="Delete it; the same command collects it again"):
        staging.read("a b")


def test_other_folders_are_left_alone(made, tmp_path: Path, dataset: Path) -> None:
    (tmp_path / "photo.jpg").touch()
    with pytest.raises(UserError, match="is no dataset and is not empty"):
        Collection.open(tmp_path, REQUEST, ["a"])
    with pytest.raises(UserError, match="There is a dataset at"):
        write_dataset(dataset, [made.demonstration()])
    with pytest.raises(UserError, match="There is no dataset at"):
        check_dataset(tmp_path / "nothing")
    assert os.listdir(tmp_path) == ["photo.jpg"]
    assert layout.file_place(2001) == {"chunk_index": 2, "file_index": 1}
