"""What is taken for granted about a checkpoint, whether it fits, and what is said without LeRobot."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from lerobot_doubles import HEEDFUL, LIBERO

from heedful.policies.conventions.presets import PRESETS
from heedful.policies.digests import digest_of
from heedful.policies.lerobot import make
from heedful.policies.lerobot.fit import checkpoint_lines, refuse_misfits
from heedful.policies.lerobot.reference import described
from heedful.spec.contract import CameraContract, WorldContract
from heedful.spec.errors import UserError
from heedful.store.datasets.layout import COLUMNS, IMAGE_PREFIX
from heedful.workflows.checking import check_policy

Making = Callable[..., Path]

WORLD = WorldContract(("agent", "wrist"), ("ee_delta", "ee_absolute", "joint_absolute"), 20.0)


def wrong(rest: str) -> dict[str, str]:
    return {
        line.what: line.mend for line in checkpoint_lines(described(rest), WORLD) if line.outcome == "wrong"
    }


def test_features_of_heedfuls_datasets_need_no_words(making: Making) -> None:
    found = described(str(making()))
    assert found.recognised and found.preset == "lerobot-heedful"
    assert found.conventions.cameras == {
        "observation.images.agent": CameraContract("agent", 96, 128),
        "observation.images.wrist": CameraContract("wrist", 64, 64),
    }
    assert found.conventions.contract().action_mode == "joint_absolute"
    assert found.conventions.replan == 10
    lines = checkpoint_lines(found, WORLD)
    assert {line.what for line in lines if line.outcome != "ok"} == {"instruction"}  # ACT reads none
    refuse_misfits(found)


def test_the_preset_says_what_heedfuls_datasets_hold() -> None:
    conventions = PRESETS["lerobot-heedful"].conventions
    columns = {key: column for key, column in COLUMNS["demonstration"].items() if key[0] == "o"}
    assert list(conventions.state) == list(columns)
    for key, pieces in conventions.state.items():
        (last,) = columns[key].names[-1:]
        assert last == {"gripper_width": "gripper_opening", "fingers": "finger_right"}[pieces[-1]]
    assert all(key.startswith(IMAGE_PREFIX) for key in conventions.cameras)
    assert len(COLUMNS["demonstration"]["action"].names) == 8


def test_a_policy_may_leave_out_the_tool_pose(making: Making) -> None:
    inputs = {key: shape for key, shape in HEEDFUL.items() if key != "observation.ee_state"}
    found = described(str(making(inputs)))
    assert found.recognised and list(found.conventions.state) == ["observation.state"]


@pytest.mark.parametrize(
    ("inputs", "action", "said"),
    [
        ({**HEEDFUL, "observation.images.top": (3, 64, 64)}, 8, "cameras=, state=, action= and gripper="),
        ({**HEEDFUL, "observation.state": (7,)}, 8, r"observation.state \[7\]"),
        (HEEDFUL, 7, r"action \[7\]"),
        (LIBERO, 7, "they have the form of lerobot-libero: say preset=lerobot-libero"),
    ],
)
def test_other_features_need_words_and_the_line_says_which(
    making: Making, inputs: dict[str, tuple[int, ...]], action: int, said: str
) -> None:
    folder = making(inputs, action)
    with pytest.raises(UserError, match=said):
        described(str(folder))


def test_a_preset_or_all_conventions_may_be_said(making: Making) -> None:
    folder = making(LIBERO, 7)
    preset = f"{folder}?preset=lerobot-libero"
    assert wrong(preset) == {}
    assert described(preset).conventions.scale_m == 0.05
    words = (
        "cameras=observation.images.image:agent,observation.images.image2:wrist"
        "&state=observation.state:joints+gripper_width&action=ee_absolute&gripper=close_one"
    )
    assert wrong(f"{folder}?{words}") == {}
    with pytest.raises(UserError, match="without a preset the conventions must say"):
        described(f"{folder}?action=ee_absolute")


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ("size=64x64", {"camera agent": "leave size out"}),
        ("replan=30", {"chunk": "replan=20 or less"}),
        ("action=ee_delta", {"actions": "action=joint_absolute or joint_delta"}),
        ("rate=10", {"rate": "rate=20"}),
        ("state=observation.state:joints", "state observation.state"),
        ("cameras=observation.images.agent:agent", "picture observation.images.wrist"),
        ("cameras=observation.images.agent:nose,observation.images.wrist:wrist", "camera nose"),
        ("cameras=x:agent", "camera agent"),
        ("preset=lerobot-libero", "picture observation.images.agent"),
    ],
)
def test_what_does_not_fit_is_a_line_with_what_mends_it(
    making: Making, changes: str, found: dict[str, str] | str
) -> None:
    lines = wrong(f"{making()}?{changes}")
    if isinstance(found, str):
        assert found in lines and lines[found]
    else:
        assert lines == found


def test_misfits_refuse_the_policy_before_anything_is_loaded(making: Making) -> None:
    with pytest.raises(UserError, match="camera agent: 64 x 64 px .* it says 96 x 128 px"):
        make(f"{making()}?size=64x64")


def test_a_policy_that_resizes_may_be_sent_other_sizes(making: Making) -> None:
    folder = making(kind="smolvla", resize_imgs_with_padding=[512, 512])
    lines = checkpoint_lines(described(f"{folder}?size=128"), WORLD)
    assert [line.outcome for line in lines if line.what.startswith("camera")] == ["look", "look"]


def test_a_picture_may_be_missing_where_the_policy_fills_it_in(making: Making) -> None:
    inputs = {**HEEDFUL, "observation.images.top": (3, 64, 64)}
    folder = making(inputs, kind="smolvla", empty_cameras=1)
    lines = checkpoint_lines(described(f"{folder}?preset=lerobot-heedful"), WORLD)
    assert {line.what for line in lines if line.outcome == "look"} >= {"picture observation.images.top"}
    assert wrong(f"{folder}?preset=lerobot-heedful") == {}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("flip=sideways", "Unknown flip convention 'sideways'"),
        ("preset=lerobot-libreo", "Did you mean 'lerobot-libero'"),
        ("gpu=1", "Unknown key of lerobot: 'gpu'"),
        ("prompt=words", "LeRobot knows it as 'task' only"),
        ("device=", "device has no value"),
    ],
)
def test_a_query_that_cannot_be_is_one_line(making: Making, query: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        described(f"{making()}?{query}")


def test_check_lists_what_does_not_fit_without_loading_anything(making: Making) -> None:
    found = check_policy(f"lerobot:{making()}?size=64")
    assert [line.split(":")[0] for line in found.wrong] == ["camera agent"]
    assert found.sent == () and found.metadata["chunk_size"] == "20"


@pytest.mark.skipif(find_spec("lerobot") is not None, reason="LeRobot is installed here")
def test_without_lerobot_one_line_says_what_to_do(making: Making) -> None:
    with pytest.raises(UserError, match="pip install 'heedful\\[lerobot\\]'") as refused:
        make(str(making()))
    if sys.version_info < (3, 12):
        assert "heedful serve --policy 'lerobot:" in str(refused.value)
        assert "--policy openpi://127.0.0.1:8000" in str(refused.value)


def test_a_policy_that_was_trained_again_has_another_digest(making: Making) -> None:
    folder = making()
    before = digest_of(f"lerobot:{folder}")
    assert before and digest_of(f"lerobot:{folder}?preset=lerobot-heedful&flip=none") == before
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert digest_of(f"lerobot:{folder}?preset=lerobot-heedful") != before


def test_no_path_is_one_line() -> None:
    with pytest.raises(UserError, match="names no folder"):
        described("?preset=lerobot-libero")


def test_a_home_folder_may_be_written_short(making: Making, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = making()
    monkeypatch.setenv("HOME", str(folder.parent))
    assert described("~/checkpoint").checkpoint.folder == folder
    assert digest_of("lerobot:~/checkpoint") == digest_of(f"lerobot:{folder}")


def test_a_home_folder_of_nobody_is_one_line() -> None:
    with pytest.raises(UserError, match="the home folder of ~nobodyx is not known"):
        described("~nobodyx/checkpoint")


@pytest.mark.parametrize(("height", "width"), [(1, 1), (7, 64), (64, 4097), (10**9, 64), (10**30, 10**30)])
def test_pictures_that_no_world_can_show_are_refused(making: Making, height: int, width: int) -> None:
    folder = making({**HEEDFUL, "observation.images.agent": (3, height, width)})
    with pytest.raises(UserError, match="camera 'agent' has a side below 8 or above 4096 px"):
        described(str(folder))


@pytest.mark.parametrize("name", ["what?", "a?b", "a?b?c"])
def test_a_folder_with_a_question_mark_is_written_with_percent_3f(
    making: Making, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = making()
    named = folder.rename(folder.parent / name)
    written = str(named).replace("?", "%3F")
    assert described(f"{written}?flip=none").checkpoint.folder == named
    for rest in (str(named), f"{named}?flip=none"):
        with pytest.raises(UserError, match=r"\? begins the options") as refused:
            described(rest)
        assert str(refused.value).endswith(f"for {named} write lerobot:{written}.")
    monkeypatch.chdir(folder.parent.parent)  # one slash: no hint of the hub
    with pytest.raises(UserError, match=r"\? begins the options"):
        described(f"{folder.parent.name}/{name}?flip=none")


def test_the_folder_may_be_relative(making: Making, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(making().parent)
    assert described("checkpoint").checkpoint.folder == Path("checkpoint")
