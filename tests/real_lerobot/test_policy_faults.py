"""Checkpoints of LeRobot's that are damaged, that change, or that would work unnoticed and wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from own_loop import WORDS, executed, lerobots_own_loop

from heedful.policies.digests import digest_of
from heedful.policies.lerobot import loaded
from heedful.policies.lerobot.reference import described
from heedful.policies.references import load
from heedful.spec.contract import Observation
from heedful.spec.errors import UserError
from heedful.workflows.checking import check_policy

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("lerobot") is None, reason="scripts/prove_lerobot installs lerobot"),
]


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        ("cut", "cannot be loaded"),
        ("lose", "Missing key"),
        ("type", "config.json is refused by LeRobot 0.6.1"),
        ("setting", "config.json is refused by LeRobot 0.6.1"),
        ("step", "cannot be loaded: .*wave_hello"),
    ],
)
def test_damage_is_one_line(act: Path, harm: str, said: str, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    folder = tmp_path / "policy"
    shutil.copytree(act, folder)
    weights, config = folder / "model.safetensors", folder / "config.json"
    if harm == "cut":
        weights.write_bytes(weights.read_bytes()[:-1000])
    elif harm == "lose":  # LeRobot would leave it as random numbers made it
        kept = load_file(weights)
        kept.pop("model.action_head.weight")
        save_file(kept, weights)
    elif harm == "step":
        processor = folder / "policy_preprocessor.json"
        processor.write_text(processor.read_text().replace("to_batch_processor", "wave_hello"))
    else:
        changes = {"type": {"type": "acct"}, "setting": {"wheels": 4}}[harm]
        config.write_text(json.dumps({**json.loads(config.read_text()), **changes}))
    with pytest.raises(UserError, match=said) as refused:
        load(f"lerobot:{folder}")
    assert "\n" not in str(refused.value)
    with pytest.raises(UserError, match=said):
        check_policy(f"lerobot:{folder}")


@pytest.mark.skipif(find_spec("transformers") is not None, reason="transformers is installed here")
def test_a_type_whose_packages_are_missing_says_which(act: Path, tmp_path: Path) -> None:
    from lerobot.policies.factory import make_policy_config

    folder = tmp_path / "policy"
    shutil.copytree(act, folder)
    features = json.loads((act / "config.json").read_text())
    make_policy_config("smolvla", device="cpu").save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {key: features[key] for key in ("input_features", "output_features")}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(
        UserError, match=r"needs more packages .*transformers.* pip install 'lerobot\[smolvla\]"
    ):
        load(f"lerobot:{folder}")


@pytest.mark.parametrize("device", ["cuda:99", "meta", "cpu:3", "lazy", "tpu", "CPU"])
def test_a_device_that_is_no_place_to_run_is_one_line(act: Path, device: str) -> None:
    with pytest.raises(UserError, match=f"device is '{device}'; this machine has cpu"):
        load(f"lerobot:{act}?device={device}")


@pytest.mark.parametrize("lost", ["observation.state", "observation.images.wrist", "action"])
def test_numbers_that_would_go_raw_through_lerobot_are_refused(
    act: Path, seen: list[Observation], lost: str, tmp_path: Path
) -> None:
    from safetensors.numpy import load_file, save_file

    folder = tmp_path / "policy"
    shutil.copytree(act, folder)
    for path in folder.glob("policy_*.safetensors"):
        kept = {name: value for name, value in load_file(path).items() if not name.startswith(f"{lost}.")}
        save_file(kept, path)
    loose = lerobots_own_loop(folder, seen, WORDS)  # says nothing, and does something else
    assert not np.allclose(loose, lerobots_own_loop(act, seen, WORDS))
    with pytest.raises(UserError, match=f"no mean and no std of {lost}, which policy_p"):
        load(f"lerobot:{folder}")
    with pytest.raises(UserError, match=f"no mean and no std of {lost}, which policy_p"):
        check_policy(f"lerobot:{folder}")


def test_check_shows_that_no_step_normalizes(act: Path, tmp_path: Path) -> None:
    folder = tmp_path / "policy"
    shutil.copytree(act, folder)
    name = "policy_preprocessor.json"
    before = json.loads((folder / name).read_text())
    before["steps"] = [step for step in before["steps"] if "norm_map" not in step["config"]]
    (folder / name).write_text(json.dumps(before))
    found = check_policy(f"lerobot:{folder}")
    looks = {line.what: line.said for line in found.lines if line.outcome == "look"}
    assert set(looks) == {"instruction", "normalization in"} and found.wrong == []
    assert "MEAN_STD of observation.images.agent" in looks["normalization in"]


def test_a_policy_is_one_checkpoint_though_the_link_to_the_last_one_moves(
    act: Path, diffusing: Callable[[int], Path], seen: list[Observation], tmp_path: Path
) -> None:
    last = tmp_path / "last"
    last.symlink_to(act)
    found = described(str(last))
    last.unlink()
    last.symlink_to(diffusing(1))  # a training goes on
    policy = loaded(found)
    assert policy.identity == digest_of(f"lerobot:{act}") != digest_of(f"lerobot:{last}")
    assert np.array_equal(executed(policy, seen), lerobots_own_loop(act, seen, WORDS))
    again = load(f"lerobot:{last}")
    assert again.identity == digest_of(f"lerobot:{last}")


def test_a_folder_that_is_written_to_meanwhile_is_refused(act: Path, tmp_path: Path) -> None:
    folder = tmp_path / "policy"
    shutil.copytree(act, folder)
    found = described(str(folder))
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config + "\n")
    with pytest.raises(UserError, match="was written to while it was loaded"):
        loaded(found)
    policy = load(f"lerobot:{folder}")
    with pytest.raises(UserError, match="was written to while it was loaded"):
        loaded(found)  # old settings, and new weights that are there already
    assert policy.identity == loaded(described(str(folder))).identity


def test_a_folder_with_a_question_mark_has_weights_and_a_digest_too(
    act: Path, seen: list[Observation], tmp_path: Path
) -> None:
    shutil.copytree(act, tmp_path / "best?")
    policy = load(f"lerobot:{tmp_path}/best%3F")
    assert policy.identity == digest_of(f"lerobot:{act}")
    assert np.array_equal(executed(policy, seen), executed(load(f"lerobot:{act}"), seen))


def test_a_policy_says_that_it_ignores_the_instruction(act: Path) -> None:
    assert load(f"lerobot:{act}").ignores_words is True
