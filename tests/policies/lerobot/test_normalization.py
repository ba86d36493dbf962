"""Numbers that would go raw into a policy, or come raw out of it, are refused or shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from lerobot_doubles import save_statistics

from heedful.policies.lerobot.checkpoint import read_checkpoint
from heedful.policies.lerobot.fit import checkpoint_lines
from heedful.policies.lerobot.reference import described
from heedful.spec.contract import WorldContract
from heedful.spec.errors import UserError

Making = Callable[..., Path]

IN = "policy_preprocessor_step_1_normalizer_processor.safetensors"
OUT = "policy_postprocessor_step_0_unnormalizer_processor.safetensors"
WIDTHS = {"observation.state": 8, "observation.ee_state": 8}
WORLD = WorldContract(("agent", "wrist"), ("ee_delta", "ee_absolute", "joint_absolute"), 20.0)


def change_config(folder: Path, name: str, **changes: object) -> None:
    """Change the config of every step of a processor that normalizes."""
    found = json.loads((folder / name).read_text())
    for step in found["steps"]:
        if "norm_map" in step["config"]:
            step["config"].update(changes)
    (folder / name).write_text(json.dumps(found))


def looks(folder: Path) -> dict[str, str]:
    lines = checkpoint_lines(described(str(folder)), WORLD)
    return {line.what: line.said for line in lines if line.what.startswith("normalization")}


def test_with_all_statistics_nothing_is_raw(making: Making) -> None:
    folder = making()
    assert read_checkpoint(folder).raw == {} and looks(folder) == {}


@pytest.mark.parametrize(
    ("file", "widths", "said"),
    [
        (
            IN,
            {"observation.ee_state": 8},
            "no mean and no std of observation.state, which policy_preprocessor",
        ),
        (IN, {"action": 8}, "of observation.state"),
        (OUT, {"observation.state": 8}, "no mean and no std of action, which policy_postprocessor"),
    ],
)
def test_a_feature_without_statistics_is_refused(
    making: Making, file: str, widths: dict[str, int], said: str
) -> None:
    folder = making()
    save_statistics(folder / file, widths)
    with pytest.raises(UserError, match=said) as refused:
        read_checkpoint(folder)
    assert file in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["policy_preprocessor.json", "policy_postprocessor.json"])
def test_a_step_without_a_file_of_statistics_is_refused(making: Making, name: str) -> None:
    folder = making()
    found = json.loads((folder / name).read_text())
    for step in found["steps"]:
        step.pop("state_file", None)
    (folder / name).write_text(json.dumps(found))
    with pytest.raises(UserError, match=f"{name} has no mean and no std of"):
        read_checkpoint(folder)


@pytest.mark.parametrize(
    ("mode", "names"),
    [("MIN_MAX", ("min", "max")), ("QUANTILES", ("q01", "q99")), ("QUANTILE10", ("q10", "q90"))],
)
def test_every_mode_needs_its_own_statistics(making: Making, mode: str, names: tuple[str, str]) -> None:
    folder = making()
    change_config(folder, "policy_preprocessor.json", norm_map={"STATE": mode})
    with pytest.raises(UserError, match=f"no {names[0]} and no {names[1]} of .* by {mode}"):
        read_checkpoint(folder)
    save_statistics(folder / IN, WIDTHS, names[:1])
    with pytest.raises(UserError, match=f"has no {names[1]} of"):
        read_checkpoint(folder)
    save_statistics(folder / IN, WIDTHS, names)
    assert read_checkpoint(folder).vectors == WIDTHS


def test_pictures_need_statistics_where_they_are_normalized(making: Making) -> None:
    folder = making()
    change_config(folder, "policy_preprocessor.json", norm_map={"VISUAL": "MEAN_STD", "STATE": "MEAN_STD"})
    with pytest.raises(UserError, match="of observation.images.agent"):
        read_checkpoint(folder)
    pictures = {"observation.images.agent": 3, "observation.images.wrist": 3}
    save_statistics(folder / IN, {**WIDTHS, **pictures})
    assert read_checkpoint(folder).raw == {}


def test_statistics_that_differ_in_shape_are_refused(making: Making) -> None:
    import numpy as np
    from safetensors.numpy import save_file

    folder = making()
    found = {f"{key}.{name}": np.ones(8) for key in WIDTHS for name in ("mean", "std")}
    save_file({**found, "observation.state.std": np.ones(7)}, folder / IN)
    with pytest.raises(UserError, match=r"observation.state that differ in shape: mean \[8\], std \[7\]"):
        read_checkpoint(folder)


def test_statistics_may_stand_in_the_processor_itself(making: Making) -> None:
    folder = making()
    stats = {key: {"mean": [0.0] * 8, "std": [1.0] * 8} for key in WIDTHS}
    save_statistics(folder / IN, {"action": 8})
    change_config(folder, "policy_preprocessor.json", stats=stats)
    assert read_checkpoint(folder).vectors == WIDTHS


def test_no_step_that_normalizes_is_shown_by_check(making: Making) -> None:
    folder = making()
    for name in ("policy_preprocessor.json", "policy_postprocessor.json"):
        (folder / name).write_text('{"steps": []}')
    assert looks(folder) == {
        "normalization in": "config.json asks for MEAN_STD of observation.state, observation.ee_state",
        "normalization out": "config.json asks for MEAN_STD of action",
    }
    lines = checkpoint_lines(described(str(folder)), WORLD)
    assert {line.outcome for line in lines if line.what.startswith("normalization")} == {"look"}


@pytest.mark.parametrize(
    "changes",
    [
        {"norm_map": {"STATE": "IDENTITY"}},
        {"norm_map": {}},
        {"features": {}},
        {"normalize_observation_keys": []},
    ],
)
def test_a_step_that_leaves_out_what_config_json_asks_for_is_shown(
    making: Making, changes: dict[str, object]
) -> None:
    folder = making()
    change_config(folder, "policy_preprocessor.json", **changes)
    assert list(looks(folder)) == ["normalization in"]


def test_a_policy_that_asks_for_none_needs_none(making: Making) -> None:
    folder = making(normalization_mapping={"STATE": "IDENTITY", "ACTION": "IDENTITY", "VISUAL": "IDENTITY"})
    for name in ("policy_preprocessor.json", "policy_postprocessor.json"):
        (folder / name).write_text('{"steps": []}')
    assert looks(folder) == {}


def test_a_picture_that_may_be_missing_needs_no_statistics(making: Making) -> None:
    inputs = {"observation.images.empty_camera_0": (3, 64, 64), "observation.state": (8,)}
    folder = making(inputs, kind="smolvla", empty_cameras=1)
    change_config(folder, "policy_preprocessor.json", norm_map={"VISUAL": "MEAN_STD", "STATE": "MEAN_STD"})
    assert read_checkpoint(folder).raw == {}
