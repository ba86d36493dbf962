"""What a checkpoint folder of LeRobot says of itself, read without LeRobot."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from heedful.policies.lerobot.files import (
    ADAPTER,
    CONFIG,
    POSTPROCESSOR,
    PREPROCESSOR,
    WEIGHTS,
    file_states,
    read_json,
    read_steps,
)
from heedful.policies.lerobot.folder_names import written
from heedful.policies.lerobot.normalization import ACTION, raw_features, widths
from heedful.spec.errors import UserError

CHUNKED = ("act", "diffusion", "groot", "pi0", "pi05", "pi0_fast", "smolvla", "xvla")
"""Types that need nothing but the present observation for a chunk, if ``n_obs_steps`` is 1."""

WORDLESS = ("act", "diffusion", "tdmpc", "vqbet")
"""Types that never read the instruction."""

_ANY_SIZE = ("resize_imgs_with_padding", "image_resolution", "resize_shape", "image_resize_shape")
"""Settings that let a policy resize its pictures itself."""

LONGEST = 10_000
"""More actions or observations than any policy has at a time: a mistake."""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint folder.

    Attributes:
        folder: Where it is, without links: ``checkpoints/last`` of a training that goes on is read once,
            and what it is later makes no difference.
        kind: Type of the policy, such as ``act``.
        images: Key of a picture, as it is given to the pre-processor -> height and width in px.
        vectors: Key of a state, likewise -> how many numbers it has.
        actions: Numbers in an action.
        chunk: Actions that one look gives.
        executed: Actions executed before the next look.
        chunked: A look may be answered with a whole chunk; otherwise every step needs one.
        any_size: The policy resizes its pictures itself.
        empty_cameras: Pictures that may be missing.
        before: Names of the steps of its pre-processor.
        raw: Feature that should be normalized and is not -> the mode that ``config.json`` asks for.
        said: More of what it says, for people.
        written: ``file_states`` before the first of its files was read.
    """

    folder: Path
    kind: str
    images: Mapping[str, tuple[int, int]]
    vectors: Mapping[str, int]
    actions: int
    chunk: int
    executed: int
    chunked: bool
    any_size: bool = False
    empty_cameras: int = 0
    before: tuple[str, ...] = ()
    raw: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)
    written: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False)

    @property
    def label(self) -> str:
        """Return how error lines name it."""
        return f"Policy lerobot:{self.folder}"

    @property
    def features(self) -> str:
        """Return all features in one line."""
        shapes = {
            **{key: [3, *size] for key, size in self.images.items()},
            **{key: [width] for key, width in self.vectors.items()},
            ACTION: [self.actions],
        }
        return ", ".join(f"{key} {shape}" for key, shape in shapes.items())


def read_checkpoint(folder: Path) -> Checkpoint:
    """Return what the checkpoint in ``folder`` says.

    Raises:
        UserError: There is none, one of its files is missing or damaged, or says what cannot be.
    """
    try:
        _refuse_other_places(folder)
        return _read(_fixed(folder))
    except OSError as error:  # a name that is too long, a folder that may not be looked into
        raise UserError(f"Checkpoint {folder} cannot be read: {error.strerror}.") from error


def _fixed(folder: Path) -> Path:
    """Return ``folder`` without links, so that all its files are those of one checkpoint."""
    real = Path(os.path.realpath(folder))
    return folder if real == folder.absolute() else real


def _read(folder: Path) -> Checkpoint:
    written = file_states(folder)
    config = read_json(folder, CONFIG)
    pre = read_steps(folder, PREPROCESSOR)
    post = read_steps(folder, POSTPROCESSOR)
    if config.get("use_peft") or (folder / ADAPTER).exists():
        raise UserError(
            f"Checkpoint {folder} holds a PEFT adapter only; merge it into its base model with "
            "merge_and_unload() and save the whole policy."
        )
    if not (folder / WEIGHTS).is_file():
        raise UserError(f"Checkpoint {folder}: {WEIGHTS} is missing.")
    try:
        return replace(_understood(folder, config, pre, post), written=written)
    except _CannotBe as error:
        raise UserError(f"Checkpoint {folder}: {CONFIG}: {error}.") from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise UserError(
            f"Checkpoint {folder}: {CONFIG} is not that of a LeRobot policy "
            f"({type(error).__name__}: {error})."
        ) from error


class _CannotBe(ValueError):
    """A setting that no policy has; says which, and what would do."""


def _refuse_other_places(folder: Path) -> None:
    where = str(folder)
    if folder.is_file():
        raise UserError(f"{folder} is a file; a LeRobot checkpoint is a folder with {CONFIG} and {WEIGHTS}.")
    if not folder.is_dir():
        if where.count("/") == 1 and not where.startswith((".", "/", "~")):
            raise UserError(
                f"There is no folder {where}. If it is a model of the Hugging Face hub, download it first: "
                f"hf download {where} --local-dir {folder.name}, then --policy lerobot:{folder.name}."
            )
        raise UserError(f"There is no LeRobot checkpoint at {where or 'an empty path'}: no such folder.")
    if (folder / CONFIG).exists():
        return
    above = ("", "last/", "checkpoints/last/", "checkpoints/*/")
    places = [f"{runs}{place}pretrained_model" for runs in ("", "*/", "*/*/") for place in above]
    deeper = [found for place in places for found in sorted(folder.glob(place), reverse=True)]
    for found in deeper:
        if (found / CONFIG).exists():
            raise UserError(f"{folder} is no checkpoint itself; take lerobot:{written(found)}.")
    raise UserError(f"Checkpoint {folder}: {CONFIG} is missing.")


def _understood(
    folder: Path,
    config: Mapping[str, Any],
    pre: Sequence[Mapping[str, Any]],
    post: Sequence[Mapping[str, Any]],
) -> Checkpoint:
    known = {new: old for step in pre for old, new in (step["config"].get("rename_map") or {}).items()}
    images: dict[str, tuple[int, int]] = {}
    vectors: dict[str, int] = {}
    measured = widths(folder, pre)
    for key, feature in config["input_features"].items():
        shape = _shape(key, feature)
        if feature["type"] == "VISUAL":
            if ".empty_camera_" not in key:
                images[known.get(key, key)] = (shape[1], shape[2])
        else:  # a policy that was fine-tuned keeps the shapes of its base model; its statistics are newer
            vectors[known.get(key, key)] = measured.get(key, shape[0])
    (width,) = _shape(ACTION, config["output_features"][ACTION])
    kind, looks = str(config["type"]), _whole(config, "n_obs_steps") or 1
    ensembling = config.get("temporal_ensemble_coeff") is not None
    executed = _executed(kind, config, looks)
    chunked = kind in CHUNKED and looks == 1 and not ensembling
    chunk = _whole(config, "chunk_size") or executed
    if kind in ("diffusion", "pi0_fast"):
        chunk = executed  # they return no more than that
    said = {"type": kind, "n_obs_steps": str(looks), "n_action_steps": str(executed)}
    if "chunk_size" in config:
        said["chunk_size"] = str(config["chunk_size"])
    if ensembling:
        said["temporal_ensemble_coeff"] = str(config["temporal_ensemble_coeff"])
    if known:
        said["renamed"] = ", ".join(f"{old} to {new}" for new, old in known.items())
    return Checkpoint(
        folder,
        kind,
        images,
        vectors,
        widths(folder, post).get(ACTION, width),
        chunk if chunked else 1,
        executed if chunked else 1,
        chunked,
        resizes(config),
        _whole(config, "empty_cameras", least=0) or 0,
        tuple(str(step.get("registry_name", step.get("class"))) for step in pre),
        raw_features(folder, config, pre, post),
        said,
    )


def resizes(config: Mapping[str, Any]) -> bool:
    """Return whether a policy with this ``config.json`` resizes its pictures itself."""
    return any(config.get(name) for name in _ANY_SIZE)


def _shape(key: str, feature: Mapping[str, Any]) -> list[int]:
    """Return the shape of a feature: [3, height, width] of a picture, else [width]."""
    found = list(feature["shape"])
    counted = all(isinstance(side, int) and not isinstance(side, bool) and side > 0 for side in found)
    if feature["type"] == "VISUAL":
        if not counted or len(found) != 3 or found[0] != 3:
            raise _CannotBe(f"the shape of {key} is {found}; it must be [3, height, width] in px")
    elif not counted or len(found) != 1:
        raise _CannotBe(f"the shape of {key} is {found}; it must be one number, how wide it is")
    return found


def _executed(kind: str, config: Mapping[str, Any], looks: int) -> int:
    """Return how many actions are executed before the next look."""
    most = _whole(config, "chunk_size") or LONGEST
    if kind in ("diffusion", "tdmpc"):
        most = _whole(config, "horizon") or most
    if kind == "diffusion":
        most = max(1, most - looks + 1)  # its first actions belong to the observations before
    return _whole(config, "n_action_steps", most=most) or 1


def _whole(config: Mapping[str, Any], name: str, least: int = 1, most: int = LONGEST) -> int | None:
    """Return a whole number of ``config``; ``None`` where it has none."""
    found = config.get(name)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= most:
        raise _CannotBe(f"{name} is {found!r}; it must be a whole number from {least} to {most}")
    return found
