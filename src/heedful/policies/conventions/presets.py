"""Conventions with a name: those of families of policies and their servers."""

from __future__ import annotations

from dataclasses import dataclass, field

from heedful.policies.conventions.model import Conventions, Piece
from heedful.spec.contract import CameraContract


def _both(key: str, wrist_key: str, size_px: int) -> dict[str, CameraContract]:
    return {
        key: CameraContract("agent", size_px, size_px),
        wrist_key: CameraContract("wrist", size_px, size_px),
    }


@dataclass(frozen=True)
class Preset:
    """Conventions with a name.

    Attributes:
        conventions: What they are.
        source: Where they come from, in a few words.
        note: What a user should know before trusting them; may be empty.
    """

    conventions: Conventions
    source: str
    note: str = field(default="")


_LIBERO_STATE: tuple[Piece, ...] = ("ee_position", "ee_axis_angle", "gripper_qpos")
_FRAMES = (
    "pictures go out upright. LIBERO's own client turns robosuite's frames, which arrive upside down, by "
    "180 degrees: a policy trained on these saw the scene mirrored left to right (flip=horizontal); one "
    "trained on pictures that heedful wrote did not"
)

PRESETS: dict[str, Preset] = {
    "openpi-libero": Preset(
        Conventions(
            cameras=_both("observation/image", "observation/wrist_image", 224),
            state={"observation/state": _LIBERO_STATE},
            prompt="prompt",
            action="ee_delta",
            rotation="axis_angle",
            scale_m=0.05,
            scale_rad=0.5,
            gripper="close_positive",
            gripper_binary=True,
            replan=5,
        ),
        "openpi's LIBERO client; scales of robosuite's OSC_POSE controller",
        _FRAMES,
    ),
    "openpi-droid": Preset(
        Conventions(
            cameras=_both("observation/exterior_image_1_left", "observation/wrist_image_left", 224),
            state={
                "observation/joint_position": ("joints",),
                "observation/gripper_position": ("gripper_closed",),
            },
            prompt="prompt",
            action="joint_delta",
            scale_rad=0.2,
            gripper="close_one",
            gripper_binary=True,
            control_hz=15.0,
            replan=8,
        ),
        "openpi's DROID client; DROID's joint velocities, 0.2 rad a step at full speed",
        "DROID acts at 15 Hz; rate=20 executes its actions at the world's 20 Hz, a third faster",
    ),
    "vla-eval": Preset(
        Conventions(
            cameras=_both("agentview", "wrist", 256),
            state={"states": _LIBERO_STATE},
            prompt="task_description",
            action="ee_delta",
            rotation="axis_angle",
            scale_m=0.05,
            scale_rad=0.5,
            gripper="close_positive",
            gripper_binary=True,
        ),
        "vla-eval's LIBERO benchmark",
        _FRAMES,
    ),
}
"""Name -> the conventions of a family of servers."""
