from dataclasses import replace

import pytest

from heedful.policies.conventions.changes import changed
from heedful.policies.conventions.comparison import contract_lines, server_lines
from heedful.policies.conventions.model import Conventions
from heedful.policies.conventions.presets import PRESETS
from heedful.policies.remote.announcement import conventions_for
from heedful.policies.remote.vla_eval_specs import spec_lines
from heedful.spec.contract import CameraContract, PolicyContract, WorldContract

WORLD = WorldContract(("agent", "wrist"), ("ee_delta", "ee_absolute", "joint_absolute"), 20.0)
LIBERO = PRESETS["openpi-libero"].conventions
DROID = PRESETS["openpi-droid"].conventions
CONTRACT = PolicyContract((CameraContract("agent", 96, 128),), "ee_absolute", 20.0)
OURS = conventions_for(CONTRACT, "openpi")


def wrong(conventions: Conventions, announced: Conventions | None = None) -> dict[str, str]:
    lines = server_lines(conventions, announced, WORLD)
    return {line.what: line.mend for line in lines if line.outcome == "wrong"}


def test_what_fits_has_no_line_that_is_wrong_and_pictures_are_for_a_person_to_look_at() -> None:
    assert wrong(LIBERO) == {}
    looked = [line.what for line in server_lines(LIBERO, None, WORLD) if line.outcome == "look"]
    assert looked == ["orientation of pictures"]
    assert {line.outcome for line in server_lines(OURS, OURS, WORLD)} == {"ok"}


def test_a_rate_and_a_camera_that_the_world_lacks_are_wrong() -> None:
    assert wrong(DROID) == {"rate": "rate=20"}
    nose = replace(OURS, cameras={"x": CameraContract("nose", 96, 96)})
    assert wrong(nose) == {"camera nose": "a camera of the world: agent, wrist"}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"flip": "both"}, {"orientation of pictures": "flip=none"}),
        ({"gripper": "close_one"}, {"gripper": "gripper=open_one"}),
        ({"prompt": "task"}, {"instruction": "prompt=prompt"}),
        (
            {"action": "ee_delta"},
            {"actions": "action=ee_absolute&rotation=rpy&scale_m=1&scale_rad=1&clip=false"},
        ),
        ({"scale_m": 0.05}, {"actions": "action=ee_absolute&rotation=rpy&scale_m=1&scale_rad=1&clip=false"}),
        (
            {"state": {"observation/state": ("ee_position",)}},
            {
                "state observation/state": "state=observation/state:"
                "ee_position+ee_rpy+fingers+joints+gripper_width"
            },
        ),
        (
            {"cameras": {"observation/agent": CameraContract("agent", 64, 64)}},
            {"camera agent": "cameras=observation/agent:agent@96x128"},
        ),
        ({"cameras": {}}, {"camera agent": "cameras=observation/agent:agent@96x128"}),
    ],
)
def test_what_differs_from_the_announcement_is_named_with_what_mends_it(
    changes: dict[str, object], found: dict[str, str]
) -> None:
    assert wrong(replace(OURS, **changes), OURS) == found


def test_a_policy_without_a_server_is_compared_by_its_contract() -> None:
    assert {line.outcome for line in contract_lines(CONTRACT, WORLD)} == {"ok"}
    other = replace(CONTRACT, control_hz=10.0, robots=2, cameras=(CameraContract("nose", 8, 8),))
    lines = contract_lines(other, replace(WORLD, action_modes=("ee_delta",)))
    assert [line.what for line in lines if line.outcome == "wrong"] == [
        "camera nose",
        "actions",
        "rate",
        "robots",
    ]


def test_what_a_vla_eval_server_says_is_compared_in_its_own_terms() -> None:
    conventions = PRESETS["vla-eval"].conventions
    hello = {
        "action_spec": {
            "position": {"format": "delta_xyz"},
            "rotation": {"format": "axis_angle"},
            "gripper": {"format": "binary_close_positive"},
        },
        "observation_spec": {"state": {"format": "eef_pos3_axisangle3_gripper2"}},
        "observation_params": {"send_state": True, "send_wrist_image": True},
    }
    assert [line.outcome for line in spec_lines(conventions, hello)] == ["ok"] * 4
    other = replace(
        conventions,
        action="ee_absolute",
        rotation="rpy",
        gripper="close_negative",
        state={},
        cameras={"agentview": CameraContract("agent", 96, 96)},
    )
    assert {line.what: line.mend for line in spec_lines(other, hello) if line.outcome == "wrong"} == {
        "spec position": "action=ee_delta",
        "spec rotation": "rotation=axis_angle",
        "spec gripper": "gripper=close_positive",
        "spec state": "state=states:ee_position+ee_axis_angle_short+gripper_qpos",
        "wants a state": "state=states:...",
        "wants the wrist camera": "cameras=...,wrist:wrist",
    }
    either = {"action_spec": {"gripper": {"format": "continuous_01"}}}
    (line,) = spec_lines(replace(conventions, gripper="open_one"), either)
    assert (line.outcome, line.mend) == ("look", "gripper=open_one or close_one")


def wrong_specs(conventions: Conventions, hello: dict[str, object]) -> dict[str, str]:
    return {line.what: line.mend for line in spec_lines(conventions, hello) if line.outcome == "wrong"}


def test_a_server_that_wants_robosuites_axis_angle_is_not_sent_vla_evals_own() -> None:
    """OpenVLA-OFT's server asks for it; vla-eval found success rates 14 to 40 points apart."""
    conventions = PRESETS["vla-eval"].conventions
    for seen in ({}, {"observation_spec": {"state": {"format": "eef_pos3_axisangle3_gripper2"}}}):
        hello = {**seen, "observation_params": {"send_state": True, "quat_no_antipodal": True}}
        (mend,) = wrong_specs(conventions, hello).values()
        assert mend == "state=states:ee_position+ee_axis_angle+gripper_qpos"
        mended = changed(conventions, {"state": mend.removeprefix("state=")}, "x")
        assert wrong_specs(mended, hello) == {}


def test_a_server_of_absolute_actions_is_not_taken_for_one_of_changes() -> None:
    conventions = PRESETS["vla-eval"].conventions
    found = wrong_specs(conventions, {"observation_params": {"absolute_action": True}})
    assert found == {"means absolute actions": "action=ee_absolute&scale_m=1&scale_rad=1"}
    euler = {"action_spec": {"rotation": {"format": "euler_xyz"}}}
    assert wrong_specs(replace(conventions, rotation="rpy"), euler) == {}
    assert wrong_specs(replace(conventions, rotation="rpy", action="ee_absolute"), euler) == {
        "spec rotation": ""
    }


@pytest.mark.parametrize(
    "hello",
    [
        {},
        {"action_spec": 5},
        {"action_spec": {"gripper": "open"}},
        {"action_spec": {"actions": {"format": "raw"}}},
    ],
)
def test_a_hello_that_says_nothing_is_not_compared(hello: dict[str, object]) -> None:
    assert spec_lines(PRESETS["vla-eval"].conventions, hello) == []
