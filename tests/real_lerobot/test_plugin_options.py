"""Options of lerobot_env_heedful that cannot be, and pictures that a policy was not trained on."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from plugin_calls import PX, configured, lerobot

for package in ("lerobot", "lerobot_env_heedful"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"this interpreter has no {package}; scripts/prove_lerobot has", allow_module_level=True)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"suite": "facters"}, "Unknown suite 'facters'. Did you mean 'factors'"),
        ({"pairs": "color,objects"}, "Unknown factor 'objects'. Did you mean 'object'"),
        ({"options": {"rolouts": 4}}, "Did you mean 'rollouts'"),
        ({"factors": "color,object"}, "Unknown option of suite factors 'factors'"),
        ({"pairs": "all", "options": {"pairs": "all"}}, "pairs is given twice"),
        ({"arms": "conflict"}, "No rollout of color-object_conflict can count as 'success'"),
        ({"arms": "in-distribution"}, "Did you mean 'in_distribution'"),
        ({"label": "sucess"}, "Did you mean 'success'"),
        ({"split": "cells"}, "Did you mean 'cell'"),
        ({"task_ids": [1]}, "color-object_in_distribution has the tasks 0 to 0"),
        ({"task_ids": []}, "task_ids is empty"),
        ({"cameras": "agent,wirst"}, "Did you mean 'wrist'"),
        ({"image_size": 63}, "63 px"),
        ({"action_mode": "joints"}, "Unknown action mode"),
        ({"base_seed": -1}, "base_seed is -1"),
        ({"max_steps": 0}, "max_steps is 0"),
        ({"options": [1]}, "options is [1]; it must be a mapping"),
        ({"options": None}, "options is None; it must be a mapping"),
        ({"options": {1: 2}}, "options is {1: 2}; it must be a mapping"),
        ({"task_ids": ["x"]}, "task_ids is ['x']; it must be a list of task numbers"),
        ({"task_ids": "0"}, "task_ids is '0'; it must be a list of task numbers"),
        ({"task_ids": 0}, "task_ids is 0; it must be a list of task numbers"),
        ({"task_ids": [0.0]}, "task_ids is [0.0]; it must be a list of task numbers"),
        ({"task_ids": [True]}, "task_ids is [True]; it must be a list of task numbers"),
        ({"image_size": "64"}, "image_size is '64'; it must be a whole number"),
        ({"image_size": 64.0}, "image_size is 64.0; it must be a whole number"),
        ({"video_size": None}, "video_size is None; it must be a whole number"),
        ({"max_steps": 1.5}, "max_steps is 1.5; it must be a whole number"),
        ({"max_steps": True}, "max_steps is True; it must be a whole number"),
        ({"base_seed": 1.5}, "base_seed is 1.5; it must be a whole number"),
        ({"base_seed": None}, "base_seed is None; it must be a whole number"),
        ({"first_seed": "1000"}, "first_seed is '1000'; it must be a whole number"),
        ({"max_parallel_tasks": None}, "max_parallel_tasks is None; it must be a whole number"),
        ({"max_parallel_tasks": 0}, "max_parallel_tasks is 0; it must be a whole number"),
        ({"fps": None}, "fps is None; it must be a whole number"),
        ({"suite": None}, "suite is None; it must be a text"),
        ({"pairs": ["color,object"]}, "pairs is ['color,object']; it must be a text"),
        ({"arms": None}, "arms is None; it must be a text"),
        ({"label": None}, "label is None; it must be a text"),
        ({"split": None}, "split is None; it must be a text"),
        ({"action_mode": None}, "action_mode is None; it must be a text"),
        ({"factors": ("color", "object")}, "factors is ('color', 'object'); it must be a text"),
        ({"cameras": ("agent",)}, "cameras is ('agent',); it must be a text"),
        ({"cameras": ""}, "cameras is ''; it must be names"),
        ({"cameras": " , "}, "cameras is ' , '; it must be names"),
        ({"cameras": "agent,agent"}, "cameras names 'agent' twice"),
        ({"arms": " , "}, "arms is ' , '; it must be names"),
        ({"arms": "in_distribution,in_distribution"}, "arms names 'in_distribution' twice"),
        ({"pairs": ";;"}, "pairs is ';;'; it must be names"),
        ({"pairs": " "}, "pairs is ' '; it must be names"),
        ({"suite": "grid", "factors": " , "}, "factors is ' , '; it must be names"),
        ({"fps": 10}, "20 control steps a second"),
        ({"max_parallel_tasks": 2}, "--eval.batch_size"),
    ],
)
def test_a_wrong_option_is_one_clear_line(options: dict[str, Any], line: str) -> None:
    from draccus.utils import DecodingError

    with pytest.raises(DecodingError) as refused:
        configured(**options)
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def test_lerobot_eval_shows_that_line_and_no_traceback(act: Path, tmp_path: Path) -> None:
    ran = lerobot("eval", f"--policy.path={act}", "--env.suite=facters", cwd=tmp_path)
    assert ran.returncode == 1
    assert "error: `env`: Unknown suite 'facters'. Did you mean 'factors'?" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / "outputs").exists()


def command_line(monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    monkeypatch.setattr(sys, "argv", ["lerobot-eval", *options])


def test_pictures_of_another_size_than_the_policy_was_trained_on_are_refused(
    act: Path, dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from draccus.utils import DecodingError

    for options, where in (
        ([f"--policy.path={act}"], str(act)),
        (["--policy.path", str(act)], str(act)),
        ([f"--dataset.root={dataset}", "--policy.type=act"], f"the dataset in {dataset}"),
    ):
        command_line(monkeypatch, *options)
        line = (
            f"image_size is 256; {where} has observation.images.agent as 96 x 96 px. Say --env.image_size=96"
        )
        with pytest.raises(DecodingError) as refused:
            configured()
        assert line in str(refused.value) and "\n" not in str(refused.value)
        assert configured(image_size=PX).image_size == PX


def test_pictures_are_compared_under_the_names_that_the_policy_has(
    act: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from draccus.utils import DecodingError

    config = json.loads((act / "config.json").read_text())
    inputs = {"observation.images.top": {"type": "VISUAL", "shape": [3, 64, 128]}}
    (tmp_path / "config.json").write_text(json.dumps({**config, "input_features": inputs}))
    command_line(monkeypatch, f"--policy.path={tmp_path}")
    configured()  # LeRobot itself refuses names that the policy does not have
    renamed = '{"observation.images.wrist": "observation.images.top"}'
    command_line(monkeypatch, f"--policy.path={tmp_path}", f"--rename_map={renamed}")
    with pytest.raises(DecodingError, match="wrist as 64 x 128 px. Only squares are shown here"):
        configured()


def test_a_policy_that_resizes_pictures_itself_is_warned_of(
    act: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    config = json.loads((act / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "resize_imgs_with_padding": [512, 512]}))
    command_line(monkeypatch, f"--policy.path={tmp_path}")
    configured()
    assert "96 x 96 px. The policy resizes pictures itself" in caplog.text


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--policy.path=somebody/on_the_hub"],
        ["--dataset.root=nowhere"],
        ["--policy.path=.", "--rename_map={"],
    ],
)
def test_what_is_not_on_this_disk_is_left_to_lerobot(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command_line(monkeypatch, *options)
    assert configured().image_size == 256


def test_lerobot_eval_shows_the_size_that_would_do(act: Path, tmp_path: Path) -> None:
    ran = lerobot("eval", f"--policy.path={act}", cwd=tmp_path)
    assert ran.returncode == 1
    assert "96 x 96 px. Say --env.image_size=96" in ran.stderr
    assert "Traceback" not in ran.stderr
