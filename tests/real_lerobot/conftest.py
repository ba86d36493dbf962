"""The real lerobot 0.6.1: ``scripts/prove_lerobot`` makes an environment with it and runs this there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from heedful.spec.contract import Observation

sys.path.append(str(Path(__file__).parent))

from own_loop import saved  # noqa: E402

collect_ignore_glob = ["*_side.py"]  # run by interpreters of their own

SMALL_ACT = {
    "type": "act",
    "device": "cpu",
    "push_to_hub": "false",
    "pretrained_backbone_weights": "null",
    "chunk_size": "20",
    "n_action_steps": "10",
    "dim_model": "64",
    "n_heads": "2",
    "dim_feedforward": "128",
    "n_encoder_layers": "1",
    "n_vae_encoder_layers": "1",
}


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six demonstrations that heedful collected, as H.264 video."""
    from heedful.workflows.collecting import collect

    folder = tmp_path_factory.mktemp("collected") / "data"
    options = {"pairs": "color,object", "demos": 6}
    collect("factors", options, folder, image_size_px=96, workers=1)
    return folder


@pytest.fixture(scope="session")
def act(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of a small ACT policy that ``lerobot-train`` trained for 30 steps on ``dataset``."""
    if find_spec("lerobot") is None:
        pytest.skip("lerobot is not installed here; scripts/prove_lerobot installs it")
    out = tmp_path_factory.mktemp("trained") / "act"
    options = {f"policy.{key}": value for key, value in SMALL_ACT.items()}
    options |= {"dataset.repo_id": "heedful/data", "dataset.root": str(dataset), "output_dir": str(out)}
    options |= {"steps": "30", "save_freq": "30", "batch_size": "4", "num_workers": "0"}
    command = [sys.executable, "-m", "lerobot.scripts.lerobot_train"]
    command += [f"--{key}={value}" for key, value in options.items()]
    offline = {**os.environ, "HF_HUB_OFFLINE": "1"}
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, env=offline, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return out / "checkpoints" / "last" / "pretrained_model"


@pytest.fixture
def seen() -> list[Observation]:
    """Return what an arm sees in 24 steps of a real scene, each picture another one."""
    rng = np.random.default_rng(0)
    found = []
    for step in range(24):
        images = {name: rng.integers(0, 256, (96, 96, 3), dtype=np.uint8) for name in ("agent", "wrist")}
        pose, joints = rng.normal(size=(1, 8)), rng.normal(size=(1, 8))
        found.append(Observation(images, pose, joints, step))
    return found


@pytest.fixture(scope="session")
def diffusing(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Return what saves a small diffusion policy that looks back over so many observations."""
    small = {"horizon": 16, "n_action_steps": 8, "down_dims": (16, 32), "num_inference_steps": 2}
    small |= {"n_groups": 8, "spatial_softmax_num_keypoints": 4, "diffusion_step_embed_dim": 16}

    def make(looks: int) -> Path:
        folder = tmp_path_factory.mktemp("diffusion")
        return saved(folder, dataset, "diffusion", n_obs_steps=looks, **small)

    return make
