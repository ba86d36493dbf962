import json
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from heedful.cli.app import app
from heedful.spec.demonstration import Demonstration
from heedful.store.datasets import write_dataset


def a_dataset(folder: Path) -> Path:
    steps = 6
    images = np.full((steps, 32, 32, 3), 90, np.uint8)
    demonstration = Demonstration(
        task="lift the red cup",
        images_hwc_u8={"agent": images, "wrist": images},
        joint_state=np.zeros((steps, 8)),
        ee_state=np.zeros((steps, 8)),
        actions=np.zeros((steps, 8)),
        keypose=np.zeros((steps, 5)),
        phase=np.zeros(steps, np.int64),
    )
    write_dataset(folder, [demonstration, demonstration])
    return folder


def test_a_dataset_is_checked_and_described(tmp_path: Path) -> None:
    data = str(a_dataset(tmp_path / "data"))
    said = CliRunner().invoke(app, ["check", "--data", data])
    assert said.exit_code == 0
    assert "2 demonstrations, 12 frames at 20 Hz" in said.stdout
    assert "lift the red cup" in said.stdout
    found = json.loads(CliRunner().invoke(app, ["check", "--data", data, "--json"]).stdout)
    assert found["cameras"] == {"agent": [32, 32], "wrist": [32, 32]}


def test_a_dataset_with_a_cut_video_is_one_line(tmp_path: Path) -> None:
    data = a_dataset(tmp_path / "data")
    video = next((data / "videos").rglob("*.mp4"))
    video.write_bytes(video.read_bytes()[:200])
    said = CliRunner().invoke(app, ["check", "--data", str(data)])
    assert said.exit_code == 2
    assert video.name in said.stderr and len(said.stderr.strip().splitlines()) == 1
