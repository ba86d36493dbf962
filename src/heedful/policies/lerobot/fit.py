"""What a checkpoint says of itself beside what is taken for granted about it, line by line."""

from __future__ import annotations

from dataclasses import replace

from heedful.policies.conventions.comparison import (
    Line,
    Outcome,
    action_words,
    camera_line,
    gripper_words,
    offered,
    rate_line,
    size,
    verdict,
)
from heedful.policies.conventions.model import MODES, PIECES, WIDTHS, Conventions
from heedful.policies.lerobot.checkpoint import WORDLESS, Checkpoint
from heedful.policies.lerobot.files import POSTPROCESSOR, PREPROCESSOR
from heedful.policies.lerobot.normalization import ACTION, asked_by
from heedful.policies.lerobot.reference import TASK, Described, widths
from heedful.spec.contract import WorldContract
from heedful.spec.errors import UserError

_OF_WIDTH = {7: "ee_delta or ee_absolute", 8: "joint_absolute or joint_delta"}


def checkpoint_lines(described: Described, world: WorldContract) -> list[Line]:
    """Return the comparison for a policy in a checkpoint folder.

    Args:
        described: The checkpoint, and what heedful will take for granted.
        world: What the world offers.
    """
    checkpoint, conventions = described.checkpoint, described.conventions
    return [
        *_camera_lines(checkpoint, conventions, world),
        _flip_line(described),
        *_state_lines(checkpoint, conventions),
        *_normalization_lines(checkpoint),
        _instruction_line(checkpoint),
        _action_line(checkpoint, conventions, world),
        Line("gripper", gripper_words(conventions), "", "1 open, 0 closed"),
        rate_line(conventions.control_hz, "", world, f"rate={world.control_hz:g}"),
        _chunk_line(checkpoint, conventions),
    ]


def refuse_misfits(described: Described) -> None:
    """Refuse conventions that do not fit the checkpoint; whether a world fits is compared elsewhere.

    Raises:
        UserError: Every difference is named with what mends it.
    """
    needed = described.conventions.contract()
    cameras = tuple(camera.name for camera in needed.cameras)
    world = WorldContract(cameras, (needed.action_mode,), needed.control_hz)
    wrong = [line for line in checkpoint_lines(described, world) if line.outcome == "wrong"]
    if wrong:
        found = "; ".join(f"{line.what}: {line.policy}, it says {line.said} ({line.mend})" for line in wrong)
        raise UserError(
            f"{described.checkpoint.label} says other things of itself than is taken for granted: {found}."
        )


def _camera_lines(checkpoint: Checkpoint, conventions: Conventions, world: WorldContract) -> list[Line]:
    lines = []
    for key, camera in conventions.cameras.items():
        wanted = checkpoint.images.get(key)
        said = "not asked for" if wanted is None else f"{wanted[0]} x {wanted[1]} px as {key}"
        exact = wanted == (camera.height_px, camera.width_px)
        fits = exact or (wanted is not None and checkpoint.any_size)
        there = camera.name in world.cameras
        line = camera_line(camera, f"{size(camera)} as {key}", said, fits, world)
        if there and fits and not exact:
            line = replace(line, outcome="look", mend="it resizes pictures itself; other sizes may be right")
        elif there and not fits:
            line = replace(line, mend=_pictures(checkpoint) if wanted is None else "leave size out")
        lines.append(line)
    missing = [key for key in checkpoint.images if key not in conventions.cameras]
    spare = bool(conventions.cameras) and len(missing) <= checkpoint.empty_cameras
    for key in missing:
        height, width = checkpoint.images[key]
        said = f"{height} x {width} px as {key}"
        outcome: Outcome = "look" if spare else "wrong"
        mend = "it may be missing: the policy fills in an empty one" if spare else _pictures(checkpoint)
        lines.append(
            Line(f"picture {key}", "not sent", said, f"has {', '.join(world.cameras)}", outcome, mend)
        )
    return lines


def _flip_line(described: Described) -> Line:
    ours, upright = f"flip={described.conventions.flip}", "upright, row 0 at the top"
    if described.recognised and described.conventions.flip == "none":
        return Line("orientation of pictures", ours, "as heedful's datasets", upright)
    look = "look at the pictures that went out; flip=none, vertical, horizontal or both"
    there = bool(described.conventions.cameras)
    return Line("orientation of pictures", ours, "", upright, "look" if there else "ok", look)


def _state_lines(checkpoint: Checkpoint, conventions: Conventions) -> list[Line]:
    lines = []
    for key, width in widths(conventions).items():
        wanted = checkpoint.vectors.get(key)
        ours = "; ".join(f"{piece}: {PIECES[piece][1]}" for piece in conventions.state[key])
        said = "not asked for" if wanted is None else _numbers(wanted)
        ours = ours if wanted == width else f"{_numbers(width)}: {ours}"
        mend = _states(checkpoint)
        lines.append(Line(f"state {key}", ours, said, "has all of it", verdict(wanted == width), mend))
    for key, wanted in checkpoint.vectors.items():
        if key not in conventions.state:
            mend = _states(checkpoint)
            lines.append(Line(f"state {key}", "not sent", _numbers(wanted), "has all of it", "wrong", mend))
    return lines


def _normalization_lines(checkpoint: Checkpoint) -> list[Line]:
    inputs = {key: mode for key, mode in checkpoint.raw.items() if key != ACTION}
    outputs = {key: mode for key, mode in checkpoint.raw.items() if key == ACTION}
    mend = "right only if another step, or the policy itself, normalizes"
    return [
        Line(f"normalization {way}", f"none: no step of {name} does it", asked_by(raw), "", "look", mend)
        for way, name, raw in (("in", PREPROCESSOR, inputs), ("out", POSTPROCESSOR, outputs))
        if raw
    ]


def _instruction_line(checkpoint: Checkpoint) -> Line:
    if checkpoint.kind not in WORDLESS:
        return Line("instruction", f"as {TASK}", "", "a text")
    never = f"{checkpoint.kind} never reads it"
    mend = f"policies of type {checkpoint.kind} do the same whatever is asked"
    return Line("instruction", f"as {TASK}", never, "a text", "look", mend)


def _action_line(checkpoint: Checkpoint, conventions: Conventions, world: WorldContract) -> Line:
    mode, width = MODES[conventions.action], WIDTHS[conventions.action]
    there, fits = mode in world.action_modes, checkpoint.actions == width
    ours = action_words(conventions) if fits else f"{_numbers(width)}: {action_words(conventions)}"
    likely = _OF_WIDTH.get(checkpoint.actions)
    mend = f"action={likely}" if likely else f"no robot here takes {checkpoint.actions} numbers"
    said = "" if fits and not there else f"{_numbers(checkpoint.actions)} as {ACTION}"
    return Line("actions", ours, said, offered(mode, world), verdict(there and fits), mend)


def _chunk_line(checkpoint: Checkpoint, conventions: Conventions) -> Line:
    said = f"{checkpoint.chunk} predicted, {checkpoint.executed} executed"
    if not checkpoint.chunked:
        said = "it looks at every step"
    replan = conventions.replan
    ours = f"{'all' if replan is None else replan} executed before the next look"
    fits = replan is not None and replan <= checkpoint.chunk or (replan is None and checkpoint.chunked)
    return Line("chunk", ours, said, "any number", verdict(fits), f"replan={checkpoint.chunk} or less")


def _pictures(checkpoint: Checkpoint) -> str:
    return "cameras=" + (",".join(f"{key}:CAMERA" for key in checkpoint.images) or "none")


def _states(checkpoint: Checkpoint) -> str:
    return "state=" + (",".join(f"{key}:PART+PART" for key in checkpoint.vectors) or "none")


def _numbers(width: int) -> str:
    return f"{width} numbers"
