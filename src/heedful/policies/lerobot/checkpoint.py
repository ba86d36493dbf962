"""What a checkpoint folder of LeRobot says of itself, read without LeRobot."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heedful.spec.errors import UserError

CONFIG, WEIGHTS, ADAPTER = "config.json", "model.safetensors", "adapter_config.json"
PREPROCESSOR, POSTPROCESSOR = "policy_preprocessor.json", "policy_postprocessor.json"
ACTION = "action"

CHUNKED = ("act", "diffusion", "groot", "pi0", "pi05", "pi0_fast", "smolvla", "xvla")
"""Types that need nothing but the present observation for a chunk, if ``n_obs_steps`` is 1."""

WORDLESS = ("act", "diffusion", "tdmpc", "vqbet")
"""Types that never read the instruction."""

_ANY_SIZE = ("resize_imgs_with_padding", "image_resolution", "resize_shape", "image_resize_shape")
"""Settings that let a policy resize its pictures itself."""

_LARGEST_HEADER = 100_000_000


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint folder.

    Attributes:
        folder: Where it is.
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
        said: More of what it says, for people.
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
    said: Mapping[str, str] = field(default_factory=dict)

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
        UserError: There is none, or one of its files is missing or damaged.
    """
    _refuse_other_places(folder)
    config = _json(folder, CONFIG)
    pre = _steps(folder, PREPROCESSOR)
    post = _steps(folder, POSTPROCESSOR)
    if config.get("use_peft") or (folder / ADAPTER).exists():
        raise UserError(
            f"Checkpoint {folder} holds a PEFT adapter only; merge it into its base model with "
            "merge_and_unload() and save the whole policy."
        )
    if not (folder / WEIGHTS).is_file():
        raise UserError(f"Checkpoint {folder}: {WEIGHTS} is missing.")
    try:
        return _understood(folder, config, pre, post)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise UserError(
            f"Checkpoint {folder}: {CONFIG} is not that of a LeRobot policy "
            f"({type(error).__name__}: {error})."
        ) from error


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
            raise UserError(f"{folder} is no checkpoint itself; take lerobot:{found}.")
    raise UserError(f"Checkpoint {folder}: {CONFIG} is missing.")


def _understood(
    folder: Path,
    config: Mapping[str, Any],
    pre: Sequence[Mapping[str, Any]],
    post: Sequence[Mapping[str, Any]],
) -> Checkpoint:
    known = {new: old for step in pre for old, new in step["config"].get("rename_map", {}).items()}
    images: dict[str, tuple[int, int]] = {}
    vectors: dict[str, int] = {}
    measured = _stat_widths(folder, pre)
    for key, feature in config["input_features"].items():
        shape = [int(side) for side in feature["shape"]]
        if feature["type"] == "VISUAL":
            channels, height, width = shape
            if channels != 3:
                raise ValueError(f"{key} is {shape}, not [3, height, width]")
            if ".empty_camera_" not in key:
                images[known.get(key, key)] = (height, width)
        else:  # a policy that was fine-tuned keeps the shapes of its base model; its statistics are newer
            vectors[known.get(key, key)] = measured.get(key, shape[0])
    actions = int(config["output_features"][ACTION]["shape"][0])
    actions = _stat_widths(folder, post).get(ACTION, actions)
    kind, looks = str(config["type"]), int(config.get("n_obs_steps") or 1)
    ensembling = config.get("temporal_ensemble_coeff") is not None
    executed = int(config.get("n_action_steps") or 1)
    chunked = kind in CHUNKED and looks == 1 and not ensembling
    chunk = int(config.get("chunk_size") or executed)
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
        actions,
        chunk if chunked else 1,
        executed if chunked else 1,
        chunked,
        any(config.get(name) for name in _ANY_SIZE),
        int(config.get("empty_cameras") or 0),
        tuple(str(step.get("registry_name", step.get("class"))) for step in pre),
        said,
    )


def _json(folder: Path, name: str) -> dict[str, Any]:
    path = folder / name
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"Checkpoint {folder}: {name} is missing.{_older(folder, name)}") from error
    except OSError as error:
        raise UserError(f"Checkpoint {folder}: {name} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise UserError(f"Checkpoint {folder}: {name} is damaged.") from error
    if not isinstance(found, dict):
        raise UserError(f"Checkpoint {folder}: {name} is damaged.")
    return found


def _older(folder: Path, name: str) -> str:
    if name == CONFIG:
        return ""
    return (
        " LeRobot before 0.4 wrote none; add it with: python -m "
        f"lerobot.processor.migrate_policy_normalization --pretrained-path {folder}"
    )


def _steps(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the steps of a processor, all of whose files are there."""
    steps = _json(folder, name).get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise UserError(f"Checkpoint {folder}: {name} is damaged: it has no list of steps.")
    for step in steps:
        if not isinstance(step.setdefault("config", {}), dict):
            raise UserError(f"Checkpoint {folder}: {name} is damaged: the config of a step is no mapping.")
        file = step.get("state_file")
        if file and not (folder / str(file)).is_file():
            raise UserError(f"Checkpoint {folder}: {file} is missing, of which {name} speaks.")
    return steps


def _stat_widths(folder: Path, steps: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return feature -> its width in the normalisation statistics, where these have it."""
    found: dict[str, int] = {}
    for step in steps:
        if step.get("state_file"):
            for name, shape in _tensor_shapes(folder / str(step["state_file"])).items():
                key, _, statistic = name.rpartition(".")
                if statistic in ("mean", "min") and len(shape) == 1:
                    found[key] = shape[0]
    return found


def _tensor_shapes(path: Path) -> dict[str, list[int]]:
    """Return tensor -> shape from the header of a safetensors file."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header: Any = json.loads(file.read(length)) if length < _LARGEST_HEADER else None
        return {str(name): list(t["shape"]) for name, t in header.items() if name != "__metadata__"}
    except (OSError, ValueError, struct.error, AttributeError, KeyError, TypeError) as error:
        raise UserError(f"Checkpoint {path.parent}: {path.name} is damaged.") from error
