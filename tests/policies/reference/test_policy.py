import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from heedful.policies.reference import make
from heedful.policies.reference.network import nearest
from heedful.spec.errors import UserError
from heedful.spec.seams import Start


def first_goal(policy: Any, painted: Any, text: str, discs: Any) -> np.ndarray:
    policy.reset(Start(text))
    actions: np.ndarray = policy.act(painted.observation(discs, painted.home))
    return actions[-1]


def test_it_goes_to_the_disc_whose_color_it_is_told(checkpoint: Path, painted: Any) -> None:
    policy, rng = make(str(checkpoint)), np.random.default_rng(99)
    right = 0
    for _ in range(20):
        discs = painted.scattered(rng)
        for color, x, y in discs:
            goal = first_goal(policy, painted, f"lift the {color} disc", discs)
            right += bool(np.hypot(goal[0] - x, goal[1] - y) < 0.015)
    assert right >= 38  # of 40; going to either disc regardless would give 20


def test_an_episode_is_five_looks_then_done(checkpoint: Path, painted: Any) -> None:
    policy = make(str(checkpoint))
    discs = [("red", 0.40, 0.05), ("blue", 0.58, -0.05)]
    assert policy.reset(Start("lift the red disc")) == "lift the red disc"
    tool, ends = painted.home, []
    for _ in range(5):
        actions = policy.act(painted.observation(discs, tool))
        assert actions.shape[1] == 7
        assert np.linalg.norm(actions[0, :3] - tool[:3]) < 0.031
        tool = actions[-1, [0, 1, 2, 5]]
        ends.append(actions[-1])
    assert policy.act(painted.observation(discs, tool)).shape == (0, 7)
    assert [round(float(end[6])) for end in ends] == [1, 1, 1, 0, 0]
    assert [float(end[2]) for end in ends] == pytest.approx([0.13, 0.085, 0.02, 0.02, 0.12], abs=0.01)
    assert ends[3][:2] == pytest.approx([0.40, 0.05], abs=0.01)


@pytest.mark.parametrize("text", ["", "kindly raise whatever is scarlet", "lift"])
def test_any_words_or_none_are_possible(checkpoint: Path, painted: Any, text: str) -> None:
    discs = [("red", 0.40, 0.05), ("blue", 0.58, -0.05)]
    assert np.isfinite(first_goal(make(str(checkpoint)), painted, text, discs)).all()


def test_it_asks_for_the_cameras_it_was_trained_with(checkpoint: Path) -> None:
    contract = make(str(checkpoint)).contract
    assert [(c.name, c.height_px, c.width_px) for c in contract.cameras] == [
        ("agent", 64, 64),
        ("wrist", 64, 64),
    ]
    assert (contract.action_mode, contract.control_hz, contract.privileged_state) == (
        "ee_absolute",
        20.0,
        False,
    )


def test_a_checkpoint_is_small_and_holds_nothing_executable(checkpoint: Path) -> None:
    files = {path.name: path for path in checkpoint.iterdir()}
    assert sorted(files) == ["policy.json", "training.json", "weights.safetensors"]
    assert sum(path.stat().st_size for path in files.values()) < 5e6
    assert json.loads(files["policy.json"].read_text())["training"]["encoder"] == "mean"


def test_a_checkpoint_that_is_not_whole_is_refused_in_one_line(checkpoint: Path, tmp_path: Path) -> None:
    def refused(match: str, damage: Any) -> None:
        folder = tmp_path / "copy"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(checkpoint, folder)
        damage(folder)
        with pytest.raises(UserError, match=match) as error:
            make(str(folder))
        assert "\n" not in str(error.value)

    weights = (checkpoint / "weights.safetensors").read_bytes()
    about = json.loads((checkpoint / "policy.json").read_text())
    refused("no such folder", shutil.rmtree)
    refused("policy.json is missing", lambda f: (f / "policy.json").unlink())
    refused("weights.safetensors is missing", lambda f: (f / "weights.safetensors").unlink())
    refused("weights.safetensors is damaged", lambda f: (f / "weights.safetensors").write_bytes(weights[:-9]))
    refused("policy.json is damaged", lambda f: (f / "policy.json").write_text('{"version": 1'))
    refused("policy.json is damaged", lambda f: (f / "policy.json").write_text("[]"))
    refused("version 7", lambda f: (f / "policy.json").write_text(json.dumps({**about, "version": 7})))
    refused("control_hz", lambda f: (f / "policy.json").write_text(json.dumps({**about, "control_hz": "x"})))


def test_a_contradictory_instruction_is_done_in_one_of_the_taught_ways() -> None:
    taught = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    between = torch.tensor([[0.6, 0.5], [0.1, 0.2]])
    assert nearest(between, taught).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert torch.equal(nearest(taught, taught), taught)
