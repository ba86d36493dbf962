"""Datasets of other kinds of episodes than demonstrations, and of images without loss."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from heedful.spec.errors import UserError
from heedful.store.datasets import EpisodeFrames, Staging, check_dataset, load_demonstrations, write_dataset

DATA = "data/chunk-000/file-000.parquet"


def rollout(made, seed: int = 0, **changes: object) -> EpisodeFrames:
    given = made.demonstration(seed, 12 + seed)
    last = np.arange(len(given)) == len(given) - 1
    numbers = {
        "joint_state": given.joint_state,
        "ee_state": given.ee_state,
        "actions": given.actions,
        "done": last,
        "reward": last * 0.5,
        "success": last & (seed % 2 == 0),
    }
    about = {"images_hwc_u8": given.images_hwc_u8, "fps": 20.0, "source": {"arm": "conflict", "score": 0.5}}
    return EpisodeFrames("scored_rollout", given.task, numbers, **{**about, **changes})  # type: ignore[arg-type]


def pngs(root: Path, camera: str) -> list[np.ndarray]:
    entries = pq.read_table(root / DATA, columns=[f"observation.images.{camera}"]).column(0).to_pylist()
    return [np.asarray(Image.open(io.BytesIO(entry["bytes"]))) for entry in entries]


def test_images_kept_as_png_lose_nothing(made, tmp_path: Path) -> None:
    episodes = [rollout(made, i, images="png") for i in range(3)]
    root = write_dataset(tmp_path / "d", episodes)
    summary = check_dataset(root)
    assert (summary.episodes, summary.frames, summary.attempts) == (3, 39, None)
    assert summary.cameras == {"agent": (64, 64), "wrist": (64, 64)}
    assert "3 episodes, 39 frames" in str(summary)
    for camera in ("agent", "wrist"):
        wanted = np.concatenate([episode.images_hwc_u8[camera] for episode in episodes])
        assert np.array_equal(np.stack(pngs(root, camera)), wanted)
    info = json.loads((root / "meta/info.json").read_text())
    assert info["video_path"] is None and not (root / "videos").exists()
    assert info["features"]["observation.images.agent"] == {
        "dtype": "image",
        "shape": [64, 64, 3],
        "names": ["height", "width", "channels"],
    }
    episode = pq.read_table(root / "meta/episodes/chunk-000/file-000.parquet").to_pylist()[1]
    assert not [name for name in episode if name.startswith("videos/")]
    assert np.shape(episode["stats/observation.images.wrist/mean"]) == (3, 1, 1)


@pytest.mark.parametrize("images", ["png", "video"])
def test_the_end_of_an_episode_and_its_score_are_features(made, tmp_path: Path, images: str) -> None:
    root = write_dataset(tmp_path / "d", [rollout(made, i, images=images) for i in range(2)])
    features = json.loads((root / "meta/info.json").read_text())["features"]
    assert features["next.done"] == {"dtype": "bool", "shape": [1], "names": None}
    assert "annotation.keypose" not in features
    table = pq.read_table(root / DATA)
    assert table.schema.field("next.success").type == pa.bool_()
    assert np.flatnonzero(table["next.done"].to_numpy()).tolist() == [11, 24]
    assert np.flatnonzero(table["next.success"].to_numpy()).tolist() == [11]
    assert table["next.reward"].to_numpy()[[10, 11, 24]].tolist() == [0.0, 0.5, 0.5]
    notes = json.loads((root / "meta/heedful.json").read_text())
    assert notes["episodes"][0] == {"id": "000000", "source": {"arm": "conflict", "score": 0.5}}
    assert check_dataset(root).features["next.reward"] == (1,)


def test_rollouts_are_not_taken_for_demonstrations(made, tmp_path: Path) -> None:
    root = write_dataset(tmp_path / "d", [rollout(made)])
    with pytest.raises(UserError, match=r"lacks the feature annotation\.keypose; only demonstrations"):
        load_demonstrations(root)


def test_the_episodes_of_a_dataset_must_be_of_one_kind(made, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="images is png, that of 000000 is video; they must be equal"):
        write_dataset(tmp_path / "a", [rollout(made), rollout(made, images="png")])
    with pytest.raises(UserError, match="kind is demonstration, that of 000000 is scored_rollout"):
        write_dataset(tmp_path / "b", [rollout(made), made.demonstration()])


def test_what_does_not_fit_together_is_refused(made, tmp_path: Path) -> None:
    given = rollout(made)
    short = replace(given, numbers={**given.numbers, "done": np.zeros(3, bool)})
    with pytest.raises(UserError, match=r"Episode a: done is \[3\], expected \[12\]"):
        Staging(tmp_path).add("a", short)
    odd = replace(given, numbers={**given.numbers, "reward": np.full(12, np.nan)})
    with pytest.raises(UserError, match="Episode a: reward has numbers that are not finite"):
        Staging(tmp_path).add("a", odd)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"bytes": b"no picture", "path": None}, "of frame 3 is no image"),
        ({"bytes": None, "path": "frame-000003.png"}, "of frame 3 is missing"),
        (None, "of frame 3 is missing"),
        ({"bytes": "small", "path": None}, r"of frame 3: size is \[8, 8\], expected \[64, 64\]"),
    ],
)
def test_damaged_images_are_found(made, tmp_path: Path, entry: dict[str, object] | None, said: str) -> None:
    root = write_dataset(tmp_path / "d", [rollout(made, images="png")])
    (root / "meta/heedful.json").unlink()  # whose checksum would be enough
    if entry and entry["bytes"] == "small":
        buffer = io.BytesIO()
        Image.new("RGB", (8, 8)).save(buffer, "PNG")
        entry = {**entry, "bytes": buffer.getvalue()}
    table = pq.read_table(root / DATA)
    name = "observation.images.agent"
    values = table[name].to_pylist()
    values[3] = entry
    column = pa.array(values, table.schema.field(name).type)
    pq.write_table(table.set_column(table.column_names.index(name), name, column), root / DATA)
    with pytest.raises(UserError, match=said):
        check_dataset(root)
