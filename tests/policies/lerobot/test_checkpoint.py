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


def change_json(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def inputs_of(key: str, kind: str, shape: object) -> dict[str, object]:
    return {"input_features": {key: {"type": kind, "shape": shape}}}


@pytest.mark.parametrize(
    "change",
    [
        {"type": None, "input_features": None},
        {"input_features": ["observation.state"]},
        {"input_features": {"observation.state": {"type": "STATE"}}},
        {"output_features": {}},
    ],
)
def test_a_config_of_something_else_is_one_line(making: Making, change: dict[str, object]) -> None:
    folder = making()
    change_json(folder / "config.json", **change)
    with pytest.raises(UserError, match="config.json is not that of a LeRobot policy"):
        read_checkpoint(folder)


@pytest.mark.parametrize(
    "sides", [[3, 0, 64], [3, 64, -64], [3, 64, 6.5], [3, True, 8], [1, 8, 8], [3, 64], []]
)
def test_a_picture_that_cannot_be_is_named_with_its_shape(making: Making, sides: list[object]) -> None:
    folder = making()
    change_json(folder / "config.json", **inputs_of("observation.images.x", "VISUAL", sides))
    with pytest.raises(
        UserError, match=r"the shape of observation.images.x is \[.*\[3, height, width\] in px"
    ):
        read_checkpoint(folder)


@pytest.mark.parametrize("shape", [[], [0], [-8], [8, 3], [8.5], ["8"], [float("inf")]])
@pytest.mark.parametrize("key", ["observation.state", "action"])
def test_a_vector_that_cannot_be_is_named_with_its_shape(making: Making, key: str, shape: object) -> None:
    folder = making()
    change = inputs_of(key, "STATE", shape)
    if key == "action":
        change = {"output_features": {"action": {"type": "ACTION", "shape": shape}}}
    change_json(folder / "config.json", **change)
    with pytest.raises(UserError, match=rf"the shape of {key} is \[.*one number"):
        read_checkpoint(folder)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"n_action_steps": 21}, "n_action_steps is 21; it must be a whole number from 1 to 20"),
        ({"n_action_steps": 0}, "n_action_steps is 0"),
        ({"n_action_steps": -1}, "n_action_steps is -1"),
        ({"n_action_steps": "many"}, "n_action_steps is 'many'"),
        ({"n_action_steps": 1.5}, "n_action_steps is 1.5"),
        ({"n_action_steps": True}, "n_action_steps is True"),
        ({"n_action_steps": 10**9, "chunk_size": None}, "from 1 to 10000"),
        ({"n_action_steps": 10**9, "chunk_size": 10**9}, "chunk_size is 1000000000"),
        ({"chunk_size": 0}, "chunk_size is 0"),
        ({"n_obs_steps": 0}, "n_obs_steps is 0"),
        ({"n_obs_steps": 10**9}, "n_obs_steps is 1000000000"),
        ({"empty_cameras": -1}, "empty_cameras is -1; it must be a whole number from 0"),
        ({"kind": "diffusion", "chunk_size": None, "horizon": 16, "n_obs_steps": 8}, "from 1 to 9"),
        ({"kind": "tdmpc", "chunk_size": None, "horizon": 5}, "from 1 to 5"),
    ],
)
def test_a_number_that_cannot_be_is_named_with_its_range(
    making: Making, settings: dict[str, object], said: str
) -> None:
    with pytest.raises(UserError, match=f"config.json: .*{said}"):
        read_checkpoint(making(**settings))


@pytest.mark.parametrize("name", ["policy_preprocessor.json", "policy_postprocessor.json"])
@pytest.mark.parametrize(
    "harm",
    [
        {"state_file": "../weights.safetensors"},
        {"state_file": "/etc/passwd"},
        {"state_file": ".."},
        {"state_file": ""},
        {"state_file": 3},
        {"config": 3},
        {"config": {"rename_map": ["a", "b"]}},
        {"config": {"rename_map": {"a": {"b": "c"}}}},
        {"config": {"norm_map": "MEAN_STD"}},
        {"config": {"features": {"observation.state": [8]}}},
    ],
)
def test_a_step_that_cannot_be_is_blamed_on_the_processor(
    making: Making, name: str, harm: dict[str, object]
) -> None:
    folder = making()
    (folder.parent / "weights.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    change_json(folder / name, steps=[{"registry_name": "normalizer_processor", **harm}])
    with pytest.raises(UserError, match=f"{name} is damaged: ") as refused:
        read_checkpoint(folder)
    assert "config.json" not in str(refused.value)


def test_a_name_that_no_file_can_have_is_one_line(making: Making) -> None:
    with pytest.raises(UserError, match="cannot be read: File name too long"):
        read_checkpoint(Path("x" * 300))
    folder = making()
    steps = [{"registry_name": "normalizer_processor", "state_file": "x" * 300}]
    change_json(folder / "policy_preprocessor.json", steps=steps)
    with pytest.raises(UserError, match="cannot be read: File name too long"):
        read_checkpoint(folder)


def test_json_within_json_a_million_times_is_damage(making: Making) -> None:
    folder = making()
    (folder / "config.json").write_text("[" * 1_000_000)
    with pytest.raises(UserError, match="config.json is damaged"):
        read_checkpoint(folder)


def test_a_link_is_followed_once(making: Making) -> None:
    folder = making()
    last = folder.parent / "last"
    last.symlink_to(folder.name)
    found = read_checkpoint(last)
    last.unlink()
    last.symlink_to("000040")  # a training goes on and moves the link
    assert found.folder == folder and (found.folder / "model.safetensors").is_file()


def test_an_adapter_alone_is_no_policy(making: Making) -> None:
    with pytest.raises(UserError, match="PEFT adapter"):
        read_checkpoint(making(use_peft=True))
