"""What a checkpoint folder says of itself, and folders that are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from lerobot_doubles import HEEDFUL

from heedful.policies.lerobot.checkpoint import read_checkpoint
from heedful.spec.errors import UserError

Making = Callable[..., Path]

STATISTICS = "policy_preprocessor_step_1_normalizer_processor.safetensors"


def test_the_features_are_those_of_its_config(making: Making) -> None:
    found = read_checkpoint(making())
    assert found.images == {"observation.images.agent": (96, 128), "observation.images.wrist": (64, 64)}
    assert found.vectors == {"observation.state": 8, "observation.ee_state": 8}
    assert (found.actions, found.chunk, found.executed, found.chunked) == (8, 20, 10, True)
    assert found.said["type"] == "act"


@pytest.mark.parametrize(
    ("settings", "chunk", "chunked"),
    [
        ({"n_action_steps": 1, "temporal_ensemble_coeff": 0.01}, 1, False),
        ({"n_obs_steps": 2, "kind": "diffusion"}, 1, False),
        ({"kind": "diffusion"}, 10, True),  # it returns no more than is executed
        ({"kind": "tdmpc"}, 1, False),
        ({"kind": "somebody_elses"}, 1, False),
    ],
)
def test_a_chunk_needs_a_policy_that_remembers_nothing(
    making: Making, settings: dict[str, object], chunk: int, chunked: bool
) -> None:
    found = read_checkpoint(making(**settings))
    assert (found.chunk, found.chunked) == (chunk, chunked)


def test_features_are_called_as_they_are_before_the_pre_processor_renames_them(
    making: Making,
) -> None:
    inputs = {"observation.images.camera1": (3, 64, 64), "observation.state": (8,)}
    found = read_checkpoint(
        making(inputs, renamed={"observation.images.agent": "observation.images.camera1"})
    )
    assert list(found.images) == ["observation.images.agent"]


def test_statistics_say_the_widths_of_a_policy_that_was_fine_tuned(making: Making) -> None:
    inputs = {"observation.images.agent": (3, 64, 64), "observation.state": (6,)}
    found = read_checkpoint(making(inputs, kind="smolvla", measured={"observation.state": 8}))
    assert found.vectors == {"observation.state": 8}


def test_pictures_that_are_always_empty_are_not_asked_for(making: Making) -> None:
    inputs = {**HEEDFUL, "observation.images.empty_camera_0": (3, 480, 640)}
    found = read_checkpoint(making(inputs, kind="smolvla", empty_cameras=1))
    assert list(found.images) == ["observation.images.agent", "observation.images.wrist"]


@pytest.mark.parametrize(
    "deeper", ["", "last", "checkpoints/last", "checkpoints/000030", "act/checkpoints/last"]
)
def test_a_folder_above_the_checkpoint_is_told_where_it_is(making: Making, deeper: str) -> None:
    made = making()
    inside = made.parent / "outputs" / deeper / "pretrained_model"
    inside.parent.mkdir(parents=True)
    made.rename(inside)
    with pytest.raises(UserError, match="is no checkpoint itself; take lerobot:") as refused:
        read_checkpoint(made.parent / "outputs")
    assert str(refused.value).endswith(f"lerobot:{inside}.")


def test_the_newest_checkpoint_is_proposed(making: Making) -> None:
    made = making()
    for step in ("000100", "000020"):
        inside = made.parent / "outputs" / "checkpoints" / step / "pretrained_model"
        inside.mkdir(parents=True)
        (inside / "config.json").write_text("{}")
    with pytest.raises(UserError, match="000100"):
        read_checkpoint(made.parent / "outputs")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("nowhere/at/all", "no such folder"),
        ("lerobot/smolvla_base", "hf download lerobot/smolvla_base --local-dir smolvla_base"),
        (".", "config.json is missing"),
        ("file", "is a file"),
    ],
)
def test_a_place_without_a_checkpoint_is_one_line(
    place: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=said):
        read_checkpoint(Path(place))


@pytest.mark.parametrize(
    "name", ["model.safetensors", "policy_preprocessor.json", "policy_postprocessor.json", STATISTICS]
)
def test_a_missing_file_is_named(making: Making, name: str) -> None:
    folder = making()
    (folder / name).unlink()
    with pytest.raises(UserError, match=f"{name} is missing"):
        read_checkpoint(folder)


@pytest.mark.parametrize(
    "name", ["config.json", "policy_preprocessor.json", "policy_postprocessor.json", STATISTICS]
)
@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe\x00", b"\x00" * 8 + b"null"])
def test_a_damaged_file_is_named(making: Making, name: str, content: bytes) -> None:
    folder = making()
    (folder / name).write_bytes(content)
    with pytest.raises(UserError, match=f"{name} is damaged"):
        read_checkpoint(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"type": None, "input_features": None},
        {"input_features": {"observation.state": {"type": "STATE", "shape": []}}},
        {"input_features": {"observation.images.x": {"type": "VISUAL", "shape": [1, 8, 8]}}},
        {"output_features": {}},
        {"n_action_steps": "many"},
    ],
)
def test_a_config_of_something_else_is_one_line(making: Making, change: dict[str, object]) -> None:
    folder = making()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **change}))
    with pytest.raises(UserError, match="config.json is not that of a LeRobot policy"):
        read_checkpoint(folder)


def test_an_adapter_alone_is_no_policy(making: Making) -> None:
    with pytest.raises(UserError, match="PEFT adapter"):
        read_checkpoint(making(use_peft=True))
