"""Datasets of ours in the hands of the real LeRobot, and its own in ours.

The other side is the interpreter that ``HEEDFUL_LEROBOT_PYTHON`` names, or this one if it has lerobot.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from heedful.metrics.scene_entropy import scene_entropy
from heedful.spec.run import RunSpec
from heedful.store.datasets import check_dataset, layout
from heedful.store.datasets.labels import FRAMES, read_labels, tasks_of, usable
from heedful.store.datasets.meta import Meta, read_meta, read_table
from heedful.store.datasets.read import column_values
from heedful.store.video import decode_mp4
from heedful.workflows.collecting import collect
from heedful.workflows.exporting import export
from heedful.workflows.judging import judge
from heedful.workflows.running import entries, run

pytestmark = pytest.mark.slow

SIDE = Path(__file__).parent / "dataset_side.py"
OPTIONS = {"pairs": "color,object", "rollouts": 2, "in_distribution": 2, "empty": 1}


def lerobot(*arguments: str | Path) -> str:
    """Run the real library's interpreter with ``arguments`` and return the last line that it prints."""
    here = sys.executable if find_spec("lerobot") is not None else None
    python = os.environ.get("HEEDFUL_LEROBOT_PYTHON", here)
    if python is None:
        pytest.skip("HEEDFUL_LEROBOT_PYTHON names no interpreter with lerobot 0.6.1")
    offline = {**os.environ, "HF_HUB_OFFLINE": "1"}
    ran = subprocess.run(
        [python, *arguments], capture_output=True, text=True, timeout=300, env=offline, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return (ran.stdout.splitlines() or [""])[-1]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("real") / "run"
    run(RunSpec("factors", OPTIONS, entries(["planted:color>object>spatial>verb>size"])), path, workers=1)
    judge(path)
    return path


def images(meta: Meta, camera: str) -> np.ndarray:
    """Return every frame of ``camera`` as we decode it."""
    if meta.is_video(camera):
        paths = list(dict.fromkeys(meta.video_path(episode, camera) for episode in meta.episodes))
        return np.stack([frame for path in paths for frame in decode_mp4(path)])
    tables = [read_table(path, [meta.views[camera]]) for path in meta.data_files]
    entries = [entry for table in tables for entry in table.column(0).to_pylist()]
    return np.stack([np.asarray(Image.open(io.BytesIO(entry["bytes"]))) for entry in entries])


def compare(root: Path, tmp_path: Path) -> tuple[Any, Any]:
    """Let the real library read the dataset at ``root``; all that it finds must be what is there."""
    meta, summary = read_meta(root), check_dataset(root)
    said = json.loads(lerobot(SIDE, "read", root, tmp_path / "seen.npz"))
    seen = np.load(tmp_path / "seen.npz")
    assert (said["episodes"], said["frames"]) == (summary.episodes, summary.frames)
    assert (said["fps"], said["robot_type"]) == (summary.fps, summary.robot_type)
    tasks = [episode["tasks"][0] for episode in meta.episodes for _ in range(episode["length"])]
    assert said["tasks"] == [[task, len(list(group))] for task, group in groupby(tasks)]
    tables = [read_table(path) for path in meta.data_files]
    for name, feature in meta.info["features"].items():
        if feature["dtype"] in ("video", "image"):
            continue
        ours = np.concatenate([column_values(table, name) for table in tables])
        assert np.array_equal(np.squeeze(seen[name]), np.squeeze(ours)), name
        assert seen[name].dtype == np.dtype(feature["dtype"])
    for camera in meta.cameras:
        theirs, ours = seen[meta.views[camera]].astype(int), images(meta, camera).astype(int)
        assert theirs.shape == ours.shape
        # PNG: no difference. H.264: the same pictures, their colors converted by other code.
        limit = 2 if meta.is_video(camera) else 0
        assert np.abs(theirs - ours).max() <= limit, camera
    actions = seen["action"]
    assert said["chunk"] == [4, 4, actions.shape[1]]
    assert np.allclose(said["action_mean"], actions.mean(0), atol=1e-5)
    assert all(shape == [3, 1, 1] for shape in said["image_mean"].values())
    return said, seen


@pytest.mark.parametrize("kept", ["video", "png"])
def test_lerobot_reads_an_exported_run_in_many_files(
    judged: Path, tmp_path: Path, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit, value in (("DATA_FILE_MB", 0.001), ("VIDEO_FILE_MB", 0.05), ("CHUNK_FILES", 2)):
        monkeypatch.setattr(layout, limit, value)
    export(judged, tmp_path / "d", image_size_px=96, images=kept, workers=1)
    assert len(read_meta(tmp_path / "d").data_files) == 7
    assert len(list((tmp_path / "d/videos").rglob("*.mp4"))) > 2 or kept == "png"
    said, _ = compare(tmp_path / "d", tmp_path)
    assert set(said["cameras"].values()) == {"image" if kept == "png" else "video"}
    assert any(task == "" for task, _ in said["tasks"])  # the control without words


@pytest.mark.parametrize("kept", ["video", "png"])
def test_lerobot_reads_rewards(judged: Path, tmp_path: Path, kept: str) -> None:
    export(judged, tmp_path / "d", only="success", image_size_px=64, images=kept, workers=1)
    _, seen = compare(tmp_path / "d", tmp_path)
    assert seen["next.success"].sum() == seen["next.reward"].sum() == seen["next.done"].sum() == 2


def test_lerobot_reads_a_collected_dataset(tmp_path: Path) -> None:
    collect("factors", {"pairs": "color,object", "demos": 3}, tmp_path / "d", image_size_px=64, workers=1)
    compare(tmp_path / "d", tmp_path)


def test_lerobot_trains_on_an_exported_run(judged: Path, tmp_path: Path) -> None:
    export(judged, tmp_path / "d", only="success", image_size_px=64, images="png", workers=1)
    options = {
        "dataset.repo_id": "local/run",
        "dataset.root": tmp_path / "d",
        "output_dir": tmp_path / "out",
        "policy.type": "act",
        "policy.device": "cpu",
        "policy.push_to_hub": "false",
        "policy.pretrained_backbone_weights": "null",  # nothing is downloaded
        "policy.dim_model": "64",
        "policy.n_heads": "2",
        "policy.dim_feedforward": "64",
        "steps": "1",
        "batch_size": "2",
        "num_workers": "0",
    }
    lerobot("-m", "lerobot.scripts.lerobot_train", *(f"--{key}={value}" for key, value in options.items()))
    (weights,) = (tmp_path / "out").rglob("model.safetensors")
    assert weights.parent.name == "pretrained_model"


@pytest.mark.parametrize("storage", ["video", "image"])
def test_we_read_a_dataset_of_the_real_library(tmp_path: Path, storage: str) -> None:
    files = json.loads(lerobot(SIDE, "write", tmp_path / "d", storage))
    for kind in ("data", "meta/episodes", *(["videos"] if storage == "video" else [])):
        assert sum(name.startswith(kind) for name in files) > 1, f"only one file in {kind}"
    summary = check_dataset(tmp_path / "d")
    assert (summary.episodes, summary.frames, summary.cameras) == (6, 45, {"top": (64, 96)})
    meta = read_meta(tmp_path / "d")
    assert tasks_of(meta.episodes) == [
        "push the block", "lift the block", "push the block", "lift the block",
        "lift the block + push the block", "lift the block",
    ]  # fmt: skip
    assert usable(meta) == {FRAMES: ["scene_id", "scene_name"]}
    labels = read_labels(meta, "scene_name")
    assert labels.values == ("table 0", "table 0", "table 1", "table 1", "table 2", "table 2")
    tasks = tasks_of(meta.episodes)
    assert scene_entropy(zip(labels.values, tasks, strict=True)).bits == 1.0
    # Each picture was painted with its episode and step, the left half with red 200.
    red, green, _ = np.moveaxis(images(meta, "top").astype(int), -1, 0)
    wanted = np.repeat([20 * e + t for e in range(6) for t in range(5 + e)], 1)
    assert np.abs(green[:, 32, 80] - wanted).max() <= (8 if storage == "video" else 0)
    assert np.abs(red[:, 32, 16] - 200).max() <= (8 if storage == "video" else 0)
