"""What a robot did, read from recorded states alone: the object first manipulated, the verb.

The rules and thresholds of the state judge, of the experts' success checks and of the
early stop are these, in this one place. Frame: the world frame of ``State`` (x away from
the robot's base, y to its left, z up).

The order of the rules is the order in which they are tried; the first that holds decides:

1. lift    the object ends at least ``lift_m`` above where it stood.
2. push    it moved at least ``move_m`` in the plane, mostly away from the robot's base (+x).
   pull    ... mostly towards the base (-x).
   slide   ... mostly sideways (+y or -y).
   "Mostly" is within 45 degrees of the direction; the four quadrants leave no gap.
3. rotate  it turned at least ``turn_rad`` about the vertical without leaving its place.
4. grasp   both fingers hold it at the end.
Otherwise there was no verb: a touch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.spec.state import Trajectory

VERBS = ("grasp", "lift", "push", "pull", "rotate", "slide")


@dataclass(frozen=True)
class ManipulationRules:
    """Thresholds, each with its reason.

    Attributes:
        lift_m: 0.04. A dragged object's centre rises by less than 0.01 m; a lift is 0.10 m.
        move_m: 0.035. Closing on an object shifts it by up to 0.02 m; a commanded move is 0.08 m.
        turn_rad: 0.44 (25 degrees). Closing aligns a box by up to about 0.25 rad; a
            commanded turn is 1.0 rad.
        disturbed_m, disturbed_rad: 0.01 m, 0.17 rad. A brush that moves an object less
            than this is no manipulation.
        hold_steps: 3. Consecutive final steps with both fingers on the object.
    """

    lift_m: float = 0.04
    move_m: float = 0.035
    turn_rad: float = 0.44
    disturbed_m: float = 0.01
    disturbed_rad: float = 0.17
    hold_steps: int = 3


RULES = ManipulationRules()

TASK_LABELS = ("success", "wrong_verb", "wrong_object", "nothing")
"""What a manipulation counts as where one verb on one object is right; ``judges.task`` says when."""


@dataclass(frozen=True)
class Manipulation:
    """What was done first.

    Attributes:
        object: Name of the object first manipulated, ``None`` if none was.
        verb: The verb executed on it, ``None`` for a mere touch.
        moved_m: Planar displacement of that object from start to end.
        raised_m: Rise of its centre from start to end.
        turned_rad: Signed yaw change, unwrapped over the rollout.
        held: Both fingers on it at the end.
        first_contact_step: Trajectory row of the first contact with it.
    """

    object: str | None
    verb: str | None
    moved_m: float = 0.0
    raised_m: float = 0.0
    turned_rad: float = 0.0
    held: bool = False
    first_contact_step: int | None = None

    @property
    def sentence(self) -> str:
        """Return what was done as a sentence."""
        if self.object is None:
            return "No object was manipulated."
        what = f"by {self.verb}" if self.verb else "without completing any verb"
        return f"First manipulated {self.object!r}, {what}."

    def facts(self) -> dict[str, str | float | None]:
        """Return the plain facts that verdicts keep as evidence."""
        return {
            "object": self.object,
            "verb": self.verb,
            "moved_m": self.moved_m,
            "raised_m": self.raised_m,
            "turned_rad": self.turned_rad,
            "first_contact_step": self.first_contact_step,
        }


def yaw_change_rad(quaternions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the accumulated rotation about the vertical, [T], from quaternions [T, 4] (wxyz).

    Uses the twist of each step's relative rotation about the world's z axis, so it is
    defined for a body that rolls, too.
    """
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    # z and w parts of q[t+1] * conj(q[t]): the step's rotation in the world frame
    wz = w[1:] * w[:-1] + x[1:] * x[:-1] + y[1:] * y[:-1] + z[1:] * z[:-1]
    zz = z[1:] * w[:-1] - w[1:] * z[:-1] - x[1:] * y[:-1] + y[1:] * x[:-1]
    step = 2 * np.arctan2(zz, wz)
    step = (step + np.pi) % (2 * np.pi) - np.pi
    return np.concatenate([[0.0], np.cumsum(step)])


def verb_executed(
    displacement_m: NDArray[np.float64], turned_rad: float, held: bool, rules: ManipulationRules = RULES
) -> str | None:
    """Return the verb that a displacement [3] and a turn amount to, by the rules above."""
    dx, dy, dz = displacement_m
    if dz >= rules.lift_m:
        return "lift"
    if np.hypot(dx, dy) >= rules.move_m:
        if abs(dx) > abs(dy):
            return "push" if dx > 0 else "pull"
        return "slide"
    if abs(turned_rad) >= rules.turn_rad:
        return "rotate"
    return "grasp" if held else None


def read(trajectory: Trajectory, rules: ManipulationRules = RULES) -> Manipulation:
    """Return the object first manipulated in ``trajectory`` and the verb executed on it.

    An object is manipulated when the robot touches it and it is then held by both fingers
    or moves by more than the ``disturbed`` thresholds. If several are, the one whose
    contact began first counts.
    """
    touched = np.any(trajectory.contacts, axis=(1, 3))  # [T, N]
    both = np.any(trajectory.contacts[..., :2].all(axis=-1), axis=1)  # [T, N]
    candidates = []
    for i, name in enumerate(trajectory.object_names):
        if not touched[:, i].any():
            continue
        start = int(touched[:, i].argmax())
        turned = yaw_change_rad(trajectory.object_quaternions[:, i])
        moved = trajectory.object_positions_m[:, i] - trajectory.object_positions_m[0, i]
        disturbed = (np.linalg.norm(moved[start:], axis=1).max() >= rules.disturbed_m) or (
            np.abs(turned[start:] - turned[start]).max() >= rules.disturbed_rad
        )
        if disturbed or both[:, i].any():
            candidates.append((start, i, name, moved[-1], float(turned[-1])))
    if not candidates:
        return Manipulation(None, None)
    start, i, name, moved_end, turned_end = min(candidates, key=lambda c: c[:2])
    held = len(both) >= rules.hold_steps and bool(both[-rules.hold_steps :, i].all())
    return Manipulation(
        object=name,
        verb=verb_executed(moved_end, turned_end, held, rules),
        moved_m=float(np.hypot(*moved_end[:2])),
        raised_m=float(moved_end[2]),
        turned_rad=turned_end,
        held=held,
        first_contact_step=start,
    )
