"""What a vla-eval server's hello says in its own terms, beside the conventions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heedful.policies.conventions.comparison import Line, verdict
from heedful.policies.conventions.model import Conventions

POSITIONS = {"delta_xyz": "ee_delta", "absolute_xyz": "ee_absolute"}
ROTATIONS = {"axis_angle": "axis_angle", "euler_xyz": "rpy"}
GRIPPERS = {
    "binary_close_positive": ("close_positive",),
    "binary_close_negative": ("close_negative",),
    "binary_close_01": ("close_one",),
    "continuous_01": ("open_one", "close_one"),
}
"""Format of vla-eval -> conventions that it can mean; its continuous_01 does not say which end is open."""

STATES = {
    "eef_pos3_axisangle3_gripper2": "ee_position+ee_axis_angle_short+gripper_qpos",
    "eef_pos3_euler3_gripper2": "ee_position+ee_euler+gripper_qpos",
    "joint_positions": "joints",
}
"""With ``quat_no_antipodal`` among the server's wishes, the axis angle is robosuite's: not the short one."""


def spec_lines(conventions: Conventions, hello: Mapping[Any, Any]) -> list[Line]:
    """Return one line for everything in ``hello`` that can be compared with ``conventions``.

    Formats that heedful does not know, and ``raw``, say nothing.

    Args:
        conventions: What heedful will take for granted.
        hello: Payload of the server's hello.
    """
    actions, seen = _formats(hello, "action_spec"), _formats(hello, "observation_spec")
    lines = []
    if (said := actions.get("position", "")) in POSITIONS:
        wanted = POSITIONS[said]
        fits = conventions.action == wanted
        lines.append(Line("spec position", conventions.action, said, "", verdict(fits), f"action={wanted}"))
    if (said := actions.get("rotation", "")) in ROTATIONS:
        wanted, fits = ROTATIONS[said], conventions.rotation == ROTATIONS[said]
        tools = said == "euler_xyz" and conventions.action == "ee_absolute"
        outcome = "wrong" if tools else verdict(fits)
        mend = "" if tools else f"rotation={wanted}"  # rpy is 0 where the tool's own angles are pi about x
        lines.append(Line("spec rotation", conventions.rotation, said, "", outcome, mend))
    if (said := actions.get("gripper", "")) in GRIPPERS:
        choices = GRIPPERS[said]
        fits = conventions.gripper in choices
        outcome = "look" if fits and len(choices) > 1 else verdict(fits)
        mend = f"gripper={' or '.join(choices)}"
        lines.append(Line("spec gripper", conventions.gripper, said, "", outcome, mend))
    params = hello.get("observation_params")
    wishes: Mapping[Any, Any] = params if isinstance(params, dict) else {}
    layouts = ["+".join(pieces) for pieces in conventions.state.values()]
    if (said := seen.get("state", "")) in STATES:
        wanted = STATES[said]
        if wishes.get("quat_no_antipodal") is True:
            wanted, said = wanted.replace("_short", ""), f"{said}, quat_no_antipodal"
        mend, fits = f"state=states:{wanted}", wanted in layouts
        lines.append(Line("spec state", "; ".join(layouts) or "none", said, "", verdict(fits), mend))
    elif wishes.get("quat_no_antipodal") is True and any("_short" in layout for layout in layouts):
        mend = "state=states:ee_position+ee_axis_angle+gripper_qpos"
        lines.append(
            Line("wants another axis angle", "; ".join(layouts), "quat_no_antipodal", "", "wrong", mend)
        )
    if wishes.get("absolute_action") is True and conventions.action != "ee_absolute":
        mend = "action=ee_absolute&scale_m=1&scale_rad=1"
        lines.append(Line("means absolute actions", conventions.action, "absolute_action", "", "wrong", mend))
    if wishes.get("send_state") is True and not layouts:
        lines.append(Line("wants a state", "none", "send_state", "", "wrong", "state=states:..."))
    cameras = [camera.name for camera in conventions.cameras.values()]
    if wishes.get("send_wrist_image") is True and "wrist" not in cameras:
        sent = ", ".join(cameras) or "none"
        lines.append(
            Line("wants the wrist camera", sent, "send_wrist_image", "", "wrong", "cameras=...,wrist:wrist")
        )
    return lines


def _formats(hello: Mapping[Any, Any], key: str) -> dict[str, str]:
    """Return component -> format of one of the specs, as far as it is one."""
    found = hello.get(key)
    specs: Mapping[Any, Any] = found if isinstance(found, dict) else {}
    return {str(name): str(of.get("format")) for name, of in specs.items() if isinstance(of, dict)}
