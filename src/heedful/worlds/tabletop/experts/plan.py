"""The five keyposes of each verb.

| verb   | way in                        | act                                        |
|--------|-------------------------------|--------------------------------------------|
| grasp  | above, down, close            | stay                                       |
| lift   | above, down, close            | 0.10 m up                                  |
| pull   | above, down, close            | 0.08 m towards the robot's base (-x)       |
| slide  | above, down, close            | 0.08 m sideways (+y, right in the picture) |
| rotate | above, down, close            | 1.0 rad about the vertical                 |
| push   | behind it, closed, then down  | 0.08 m away from the base (+x)             |

Every direction and distance has one value, so that a small policy can learn it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from heedful.spec.errors import unknown
from heedful.spec.keypose import PHASES, Keypose
from heedful.spec.scene import SceneSpec
from heedful.spec.state import State
from heedful.worlds.tabletop.experts.grasp import LOWEST_TOOL_M, Placed, grasp_pose, placed

APPROACH_M = 0.11
HOVER_M = 0.065
LIFT_M = 0.10
DRAG_M = 0.08
TURN_RAD = 1.0
PUSHER_HALF_M = 0.010
"""Half the length of the finger pads along x: how far the closed fingers reach ahead."""

PUSH_GAP_M = 0.015
"""Room between the closed fingers and the object when they come down behind it."""

OPEN, CLOSED = 1.0, 0.0


def plan_keyposes(
    state: State,
    scene: SceneSpec,
    object_name: str,
    verb: str,
    rng: np.random.Generator | None = None,
) -> tuple[Keypose, ...]:
    """Return the five keyposes, one a phase, that do ``verb`` to an object.

    Args:
        state: The table as it is now.
        scene: What stands on it.
        object_name: Which of its objects to act on.
        verb: One of ``spec.manipulation.VERBS``.
        rng: If given, the approach carries ``approach_noise``; the plan without it is
            what a demonstration is labelled with.

    Raises:
        UserError: There is no expert for ``verb``.
    """
    if verb not in _ACT and verb != "push":
        raise unknown("verb", verb, (*_ACT, "push"))
    item = placed(state, scene, object_name)
    keyposes = _push(item) if verb == "push" else _grip(item, _ACT[verb])
    if rng is not None:
        keyposes = (approach_noise(keyposes[0], rng), *keyposes[1:])
    assert len(keyposes) == len(PHASES)
    return keyposes


def approach_noise(keypose: Keypose, rng: np.random.Generator) -> Keypose:
    """Return ``keypose`` displaced as the approach of a demonstration is.

    x and y by a normal of 15 mm, yaw by one of 0.12 rad, z uniformly by -10 to +20 mm: the
    frames that follow show a tool that is off, with the way back as their label.
    """
    x, y = np.asarray(keypose.position_m[:2]) + rng.normal(0.0, 0.015, size=2)
    z = keypose.position_m[2] + rng.uniform(-0.01, 0.02)
    yaw = keypose.yaw_rad + rng.normal(0.0, 0.12)
    return replace(keypose, position_m=(float(x), float(y), float(z)), yaw_rad=float(yaw))


def _grip(item: Placed, act: Callable[[Keypose], Keypose]) -> tuple[Keypose, ...]:
    grasp = grasp_pose(item)
    down = Keypose(grasp.position_m, grasp.yaw_rad, OPEN)
    closed = replace(down, gripper=CLOSED)
    return (_moved(down, dz=APPROACH_M), _moved(down, dz=HOVER_M), down, closed, act(closed))


def _push(item: Placed) -> tuple[Keypose, ...]:
    x, y, z = item.position_m
    back = item.shape.push_radius_m * item.scale + PUSHER_HALF_M + PUSH_GAP_M
    height = max(item.shape.push_height_m * item.scale, LOWEST_TOOL_M)
    down = Keypose((x - back, y, height), 0.0, CLOSED)
    ahead = _moved(down, dx=PUSH_GAP_M + DRAG_M)
    return (_moved(down, dz=APPROACH_M), _moved(down, dz=HOVER_M), down, down, ahead)


def _moved(keypose: Keypose, dx: float = 0.0, dy: float = 0.0, dz: float = 0.0) -> Keypose:
    x, y, z = keypose.position_m
    return replace(keypose, position_m=(x + dx, y + dy, z + dz))


_ACT: Mapping[str, Callable[[Keypose], Keypose]] = {
    "grasp": lambda closed: closed,
    "lift": lambda closed: _moved(closed, dz=LIFT_M),
    "pull": lambda closed: _moved(closed, dx=-DRAG_M),
    "slide": lambda closed: _moved(closed, dy=DRAG_M),
    "rotate": lambda closed: replace(closed, yaw_rad=closed.yaw_rad + TURN_RAD),
}
