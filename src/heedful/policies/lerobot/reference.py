"""What stands behind ``lerobot:``: a checkpoint folder, and what its numbers mean."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heedful.policies.conventions.changes import changed, read_query
from heedful.policies.conventions.model import PIECES, WIDTHS, Conventions, checked
from heedful.policies.conventions.presets import HEEDFUL, PRESETS
from heedful.policies.conventions.values import text
from heedful.policies.lerobot.checkpoint import Checkpoint, read_checkpoint
from heedful.policies.lerobot.folder_names import folder_named, written
from heedful.spec.contract import CameraContract
from heedful.spec.errors import UserError

TASK = "task"
"""Where LeRobot's processors look for the instruction."""


@dataclass(frozen=True)
class Described:
    """A checkpoint and what is taken for granted about it; nothing is loaded yet.

    Attributes:
        ref: The whole reference.
        checkpoint: What it says of itself.
        conventions: What its pictures, states and actions mean.
        preset: Where they begin; empty if all of them were said.
        recognised: The preset was not said: the features are exactly those of heedful's datasets.
        device: Where it runs, such as ``cuda``; empty: ``cuda`` if it is there, else ``cpu``.
    """

    ref: str
    checkpoint: Checkpoint
    conventions: Conventions
    preset: str
    recognised: bool
    device: str


def described(rest: str) -> Described:
    """Return what ``lerobot:rest`` names, without LeRobot.

    Args:
        rest: ``PATH[?KEY=VALUE&...]``; the keys of policy servers, and ``device``.

    Raises:
        UserError: No checkpoint is there, it is damaged, or nobody says what its numbers mean.
    """
    folder, query = _split(rest)
    checkpoint = read_checkpoint(folder)
    where = checkpoint.label
    said = read_query("lerobot:", where, query, {"device": text})
    preset = said.preset or (HEEDFUL if has_heedfuls_features(checkpoint) else "")
    if not preset and not {"cameras", "state", "action"} & set(said.changes):
        raise _nobody_says(checkpoint)
    begin = PRESETS[preset].conventions if preset else None
    changes = dict(said.changes) if preset else {"prompt": TASK, **said.changes}
    conventions = changed(begin, changes, where)
    if conventions.prompt != TASK:
        raise UserError(f"{where}: the prompt is {conventions.prompt!r}; LeRobot knows it as {TASK!r} only.")
    conventions = _cut(_sized(conventions, changes, checkpoint), changes, checkpoint)
    conventions = checked(conventions, where)  # again: the sizes may be those of the checkpoint now
    if "replan" not in changes:
        conventions = replace(conventions, replan=checkpoint.executed)
    device = str(said.others.get("device", ""))
    return Described(
        f"lerobot:{rest}", checkpoint, conventions, preset, bool(preset) and not said.preset, device
    )


def _split(rest: str) -> tuple[Path, str]:
    """Return the folder and the query in ``rest``."""
    path, mark, query = rest.partition("?")
    if not path:
        raise UserError(f"Policy 'lerobot:{rest}' names no folder; write lerobot:PATH.")
    folder = _folder(path)
    if mark and not os.path.isdir(folder):
        cuts = [place for place, letter in enumerate(rest) if letter == "?"][1:]
        for named in (rest[:cut] for cut in [len(rest), *reversed(cuts)]):
            if os.path.isdir(_folder(named)):
                raise UserError(
                    f"Policy 'lerobot:{rest}': ? begins the options, so that {path} would be the folder; "
                    f"for {named} write lerobot:{written(named)}."
                )
    return folder, query


def _folder(path: str) -> Path:
    try:
        return folder_named(path)
    except RuntimeError as error:
        raise UserError(
            f"Policy 'lerobot:{path}': the home folder of {path.partition('/')[0]} is not known; "
            "write the whole path, or ./~... for a folder of that name."
        ) from error


def has_heedfuls_features(checkpoint: Checkpoint) -> bool:
    """Return whether the features are those of heedful's datasets, key by key and width by width."""
    ours = PRESETS[HEEDFUL].conventions
    extra = "observation.ee_state"  # a policy may well leave it out
    return (
        checkpoint.images.keys() == ours.cameras.keys()
        and {extra: 8, **checkpoint.vectors} == widths(ours)
        and checkpoint.actions == WIDTHS[ours.action]
    )


def widths(conventions: Conventions) -> dict[str, int]:
    """Return key of a state -> how many numbers its parts have."""
    return {key: sum(PIECES[piece][0] for piece in pieces) for key, pieces in conventions.state.items()}


def _nobody_says(checkpoint: Checkpoint) -> UserError:
    presets = {name: preset.conventions for name, preset in PRESETS.items() if name.startswith("lerobot")}
    fitting = [name for name, conventions in presets.items() if _fits(conventions, checkpoint)]
    hint = f"say it with preset={' or preset='.join(presets)}, or with cameras=, state=, action= and gripper="
    if fitting:
        hint = f"they have the form of {fitting[0]}: say preset={fitting[0]} if they are that"
    return UserError(
        f"{checkpoint.label} does not say what its numbers mean: its features are {checkpoint.features}; "
        f"{hint}."
    )


def _fits(conventions: Conventions, checkpoint: Checkpoint) -> bool:
    return (
        checkpoint.images.keys() <= conventions.cameras.keys()
        and checkpoint.vectors.items() <= widths(conventions).items()
        and checkpoint.actions == WIDTHS[conventions.action]
    )


def _sized(conventions: Conventions, changes: Mapping[str, Any], checkpoint: Checkpoint) -> Conventions:
    """Return ``conventions`` with the checkpoint's picture sizes, unless the user said some."""
    if "size" in changes or "@" in str(changes.get("cameras", "")):
        return conventions
    cameras = {}
    for key, camera in conventions.cameras.items():
        height, width = checkpoint.images.get(key, (camera.height_px, camera.width_px))
        cameras[key] = CameraContract(camera.name, height, width)
    return replace(conventions, cameras=cameras)


def _cut(conventions: Conventions, changes: Mapping[str, Any], checkpoint: Checkpoint) -> Conventions:
    """Return ``conventions`` without what only the preset has: the policy does not ask for it."""
    cameras, state = dict(conventions.cameras), dict(conventions.state)
    if "cameras" not in changes:
        cameras = {key: camera for key, camera in cameras.items() if key in checkpoint.images}
    if "state" not in changes:
        state = {key: pieces for key, pieces in state.items() if key in checkpoint.vectors}
    return replace(conventions, cameras=cameras, state=state)
