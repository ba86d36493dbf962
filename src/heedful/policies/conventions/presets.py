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

HEEDFUL = "lerobot-heedful"
"""The preset of policies trained on datasets that heedful wrote."""

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
            clip=True,
            gripper="close_positive",
            gripper_binary=True,
            replan=5,
        ),
        "openpi's examples/libero/main.py; scales and limits of robosuite's osc_pose.json",
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
            clip=True,
            gripper="close_one",
            gripper_binary=True,
            control_hz=15.0,
            replan=8,
        ),
        "openpi's examples/droid/main.py; 0.2 rad a step at full speed from DROID's robot_ik_solver.py",
        "DROID acts at 15 Hz; rate=20 executes its actions at the world's 20 Hz, a third faster. DROID's "
        "pictures are 16 to 9 between black bands above and below; those that go out fill the square",
    ),
    "vla-eval": Preset(
        Conventions(
            cameras=_both("agentview", "wrist", 256),
            state={"states": ("ee_position", "ee_axis_angle_short", "gripper_qpos")},
            prompt="task_description",
            action="ee_delta",
            rotation="axis_angle",
            scale_m=0.05,
            scale_rad=0.5,
            clip=True,
            gripper="close_positive",
            gripper_binary=True,
        ),
        "vla-eval's benchmarks/libero/benchmark.py with its default quat_no_antipodal=False",
        _FRAMES,
    ),
    HEEDFUL: Preset(
        Conventions(
            cameras=_both("observation.images.agent", "observation.images.wrist", 256),
            state={
                "observation.state": ("joints", "gripper_width"),
                "observation.ee_state": ("ee_position", "ee_rpy", "fingers"),
            },
            prompt="task",
            action="joint_absolute",
            gripper="open_one",
        ),
        "LeRobot datasets that heedful writes",
    ),
    "lerobot-libero": Preset(
        Conventions(
            cameras=_both("observation.images.image", "observation.images.image2", 256),
            state={"observation.state": _LIBERO_STATE},
            prompt="task",
            action="ee_delta",
            rotation="axis_angle",
            scale_m=0.05,
            scale_rad=0.5,
            gripper="close_positive",
            gripper_binary=True,
            clip=True,
        ),
        "LeRobot's envs/libero.py and processor/env_processor.py; scales and limits of osc_pose.json",
        _FRAMES.replace("LIBERO's own client turns", "LeRobot's LIBERO environment turns"),
    ),
}
"""Name -> the conventions of a family of policies, behind servers or in checkpoints."""
