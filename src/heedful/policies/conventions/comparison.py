"""What a policy takes for granted beside what it says of itself and what a world offers, line by line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from heedful.policies.conventions.model import GRIPPERS, MODES, PIECES, Conventions
from heedful.spec.contract import ActionMode, CameraContract, PolicyContract, WorldContract

Outcome = Literal["ok", "look", "wrong"]

WORLD_ACTIONS: dict[ActionMode, str] = {
    "ee_delta": "changes of x, y, z in m and roll, pitch, yaw in rad",
    "ee_absolute": "x, y, z in m and roll, pitch, yaw in rad",
    "joint_absolute": "seven joint angles in rad",
}
"""What a world's actions are, the gripper apart."""


@dataclass(frozen=True)
class Line:
    """One thing on which policy and world must agree.

    Attributes:
        what: What it is.
        policy: What the policy takes for granted, as far as heedful was told.
        said: What the policy, or its server, says of itself; empty where it says nothing.
        world: What the world offers.
        outcome: ``look``: cannot be decided here, a person should.
        mend: What to change unless it is ok.
    """

    what: str
    policy: str
    said: str
    world: str
    outcome: Outcome = "ok"
    mend: str = ""


def verdict(fits: bool) -> Outcome:
    """Return ``ok`` or ``wrong``."""
    return "ok" if fits else "wrong"


def contract_lines(contract: PolicyContract, world: WorldContract, ignores_words: bool = False) -> list[Line]:
    """Return the comparison for a policy of which only its contract is known.

    Args:
        contract: The policy's.
        world: What the world offers.
        ignores_words: The policy says that it never reads the instruction.
    """
    replan, there = contract.replan_steps, contract.action_mode in world.action_modes
    lines = [
        *(camera_line(camera, size(camera), "", True, world) for camera in contract.cameras),
        Line("actions", contract.action_mode, "", offered(contract.action_mode, world), verdict(there)),
        rate_line(contract.control_hz, "", world, "the control_hz of the policy's contract"),
        Line(
            "chunk", f"{'all' if replan is None else replan} executed before the next look", "", "any number"
        ),
    ]
    if ignores_words:
        lines.append(_wordless(Line("instruction", "a text", "", "a text")))
    if contract.robots > 1:  # with one robot, which every world has, there is nothing to say
        fits = contract.robots <= world.robots
        lines.append(Line("robots", str(contract.robots), "", str(world.robots), verdict(fits)))
    return lines


def server_lines(
    conventions: Conventions, announced: Conventions | None, world: WorldContract, ignores_words: bool = False
) -> list[Line]:
    """Return the comparison for a policy behind a server.

    Args:
        conventions: What heedful will take for granted.
        announced: What the server announces in heedful's own terms, if it does.
        world: What the world offers.
        ignores_words: The server says that its policy never reads the instruction.
    """
    mode = MODES[conventions.action]
    chunk = "any number" if conventions.chunk is None else str(conventions.chunk)
    executed = "all" if conventions.replan is None else str(conventions.replan)
    prompt = "" if announced is None else announced.prompt
    actions, said = action_words(conventions), "" if announced is None else action_words(announced)
    opened = "1 open, 0 closed"
    gripper, said_gripper = (
        gripper_words(conventions),
        "" if announced is None else gripper_words(announced),
    )
    instruction = Line(
        "instruction",
        f"as {conventions.prompt}",
        prompt,
        "a text",
        verdict(prompt in ("", conventions.prompt)),
        f"prompt={prompt}",
    )
    return [
        *_camera_lines(conventions, announced, world),
        _flip_line(conventions, announced),
        *_state_lines(conventions, announced),
        _wordless(instruction) if ignores_words and instruction.outcome == "ok" else instruction,
        Line(
            "actions",
            actions,
            said,
            offered(mode, world),
            verdict(mode in world.action_modes and said in ("", actions)),
            "" if announced is None else _action_options(announced),
        ),
        Line(
            "gripper",
            gripper,
            said_gripper,
            opened,
            verdict(said_gripper in ("", gripper)),
            "" if announced is None else f"gripper={announced.gripper}",
        ),
        rate_line(
            conventions.control_hz,
            "" if announced is None else f"{announced.control_hz:g} Hz",
            world,
            f"rate={world.control_hz:g}",
        ),
        Line("chunk", f"{chunk} of actions, {executed} executed before the next look", "", "any number"),
    ]


def _camera_lines(
    conventions: Conventions, announced: Conventions | None, world: WorldContract
) -> list[Line]:
    theirs = {} if announced is None else {c.name: (key, c) for key, c in announced.cameras.items()}
    lines = []
    for key, camera in conventions.cameras.items():
        known = theirs.get(camera.name)
        said = "" if announced is None else f"{size(known[1])} as {known[0]}" if known else "not asked for"
        fits = announced is None or known == (key, camera)
        mend = _camera_option(*known) if known else "leave it out"
        lines.append(camera_line(camera, f"{size(camera)} as {key}", said, fits, world, mend))
    sent = {camera.name for camera in conventions.cameras.values()}
    for name, (key, camera) in theirs.items():
        if name not in sent:
            mend = _camera_option(key, camera)
            lines.append(Line(f"camera {name}", "not sent", f"{size(camera)} as {key}", "", "wrong", mend))
    return lines


def _camera_option(key: str, camera: CameraContract) -> str:
    return f"cameras={key}:{camera.name}@{camera.height_px}x{camera.width_px}"


def camera_line(
    camera: CameraContract,
    ours: str,
    said: str,
    fits: bool,
    world: WorldContract,
    mend: str = "what it says of itself",
) -> Line:
    """Return the line for a picture that is sent; ``mend`` is for one that the world has."""
    there = camera.name in world.cameras
    has = "any size" if there else f"has {', '.join(world.cameras)}"
    mend = mend if there else f"a camera of the world: {', '.join(world.cameras)}"
    return Line(f"camera {camera.name}", ours, said, has, verdict(there and fits), mend)


def _wordless(line: Line) -> Line:
    """Return the line for an instruction that the policy never reads."""
    mend = "the policy does the same whatever is asked"
    return replace(line, said="it never reads it", outcome="look", mend=mend)


def _flip_line(conventions: Conventions, announced: Conventions | None) -> Line:
    ours, upright = f"flip={conventions.flip}", "upright, row 0 at the top"
    if announced is not None:
        said = f"flip={announced.flip}"
        return Line("orientation of pictures", ours, said, upright, verdict(said == ours), said)
    look = "look at the pictures that went out; flip=none, vertical, horizontal or both"
    return Line("orientation of pictures", ours, "", upright, "look" if conventions.cameras else "ok", look)


def _state_lines(conventions: Conventions, announced: Conventions | None) -> list[Line]:
    lines = []
    for key, pieces in conventions.state.items():
        ours = "; ".join(f"{piece}: {PIECES[piece][1]}" for piece in pieces)
        theirs = None if announced is None else tuple(announced.state.get(key, ()))
        said = "" if theirs is None else ", ".join(theirs) or "not asked for"
        mend = f"state={key}:{'+'.join(theirs)}" if theirs else ""
        fits = theirs in (None, tuple(pieces))
        lines.append(Line(f"state {key}", ours, said, "has all of it", verdict(fits), mend))
    return lines


def rate_line(ours_hz: float, said: str, world: WorldContract, mend: str) -> Line:
    """Return the line for the rate, in Hz, that the actions are meant for."""
    fits = abs(ours_hz - world.control_hz) <= 1e-6
    return Line("rate", f"{ours_hz:g} Hz", said, f"{world.control_hz:g} Hz", verdict(fits), mend)


def offered(mode: ActionMode, world: WorldContract) -> str:
    """Return what ``world`` says to actions in ``mode``."""
    if mode in world.action_modes:
        return f"{mode}: {WORLD_ACTIONS[mode]}"
    return f"takes {', '.join(world.action_modes)}"


def size(camera: CameraContract) -> str:
    """Return height and width of a picture."""
    return f"{camera.height_px} x {camera.width_px} px"


def action_words(c: Conventions) -> str:
    """Return what the actions are, the gripper apart."""
    clipped = ", -1 to 1" if c.clip else ""
    if c.action.startswith("joint"):
        changes = "changes of " if c.action == "joint_delta" else ""
        return f"{c.action}: {changes}seven angles, 1 is {c.scale_rad:g} rad{clipped}"
    return f"{c.action}: 1 is {c.scale_m:g} m; {c.rotation}, 1 is {c.scale_rad:g} rad{clipped}"


def _action_options(c: Conventions) -> str:
    clip = str(c.clip).lower()
    scales = f"scale_m={c.scale_m:g}&scale_rad={c.scale_rad:g}&clip={clip}"
    return f"action={c.action}&rotation={c.rotation}&{scales}"


def gripper_words(c: Conventions) -> str:
    """Return what the last number of an action is."""
    opened, closed = GRIPPERS[c.gripper]
    return f"{c.gripper}: {opened:g} open, {closed:g} closed{', the nearer' if c.gripper_binary else ''}"
