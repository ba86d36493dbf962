"""Whether the numbers that a policy gets and gives are normalized as it was trained.

LeRobot's normalizing steps leave a feature as it is where they have no statistics of it: the policy
would get raw numbers, and nothing would say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heedful.policies.lerobot.files import CONFIG, POSTPROCESSOR, PREPROCESSOR, tensor_shapes
from heedful.spec.errors import UserError

ACTION = "action"
IDENTITY = "IDENTITY"

STATISTICS = {
    "MEAN_STD": ("mean", "std"),
    "MIN_MAX": ("min", "max"),
    "QUANTILES": ("q01", "q99"),
    "QUANTILE10": ("q10", "q90"),
}
"""Mode -> the statistics that it needs of a feature."""

Shapes = Mapping[str, Mapping[str, Sequence[int]]]
"""Feature -> statistic -> its shape."""


def statistics_of(folder: Path, step: Mapping[str, Any]) -> Shapes:
    """Return the statistics that a step of a processor has; empty where it has none.

    Raises:
        UserError: Their file is damaged.
    """
    found: dict[str, dict[str, Sequence[int]]] = {}
    given = step["config"].get("stats")
    if given:  # LeRobot then reads no file
        return {
            key: {str(name): _shape(value) for name, value in stats.items()} for key, stats in given.items()
        }
    if step.get("state_file"):
        for name, shape in tensor_shapes(folder / step["state_file"]).items():
            key, _, statistic = name.rpartition(".")
            found.setdefault(key, {})[statistic] = shape
    return found


def widths(folder: Path, steps: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return feature -> how many numbers it has by the statistics, where these have it."""
    found: dict[str, int] = {}
    for step in steps:
        for key, shapes in statistics_of(folder, step).items():
            for low, _ in STATISTICS.values():
                if len(shape := shapes.get(low, ())) == 1:
                    found[key] = shape[0]
    return found


def raw_features(
    folder: Path,
    config: Mapping[str, Any],
    before: Sequence[Mapping[str, Any]],
    after: Sequence[Mapping[str, Any]],
) -> dict[str, str]:
    """Return feature -> the mode in which it should be normalized and which no step applies.

    Args:
        folder: The checkpoint.
        config: Its ``config.json``.
        before: Steps of its pre-processor.
        after: Steps of its post-processor.

    Raises:
        UserError: A step should normalize a feature and has no statistics of it.
    """
    inputs = {
        key: str(f["type"]) for key, f in config["input_features"].items() if ".empty_camera_" not in key
    }
    done = set()
    for step in before:
        for key in inputs:
            if mode := _input_mode(step["config"], key):
                _refuse_without_statistics(folder, PREPROCESSOR, step, key, mode)
                done.add(key)
    for step in after:
        mode = (step["config"].get("norm_map") or {}).get("ACTION", IDENTITY)
        if mode != IDENTITY:
            _refuse_without_statistics(folder, POSTPROCESSOR, step, ACTION, mode)
            done.add(ACTION)
    asked = config.get("normalization_mapping") or {}
    modes = {key: str(asked.get(kind, IDENTITY)) for key, kind in {**inputs, ACTION: "ACTION"}.items()}
    return {key: mode for key, mode in modes.items() if mode != IDENTITY and key not in done}


def _input_mode(config: Mapping[str, Any], key: str) -> str:
    """Return how a step normalizes an input; empty if it does not."""
    feature = (config.get("features") or {}).get(key)
    only = config.get("normalize_observation_keys")
    if feature is None or (only is not None and key not in only):
        return ""
    mode = str((config.get("norm_map") or {}).get(feature.get("type"), IDENTITY))
    return "" if mode == IDENTITY else mode


def _refuse_without_statistics(folder: Path, name: str, step: Mapping[str, Any], key: str, mode: str) -> None:
    shapes = statistics_of(folder, step).get(key, {})
    needed = STATISTICS.get(mode, ())  # a mode that is not known is refused by LeRobot
    lacking = [statistic for statistic in needed if statistic not in shapes]
    where = str(step.get("state_file") or name)
    if lacking:
        raise UserError(
            f"Checkpoint {folder}: {where} has no {' and no '.join(lacking)} of {key}, which {name} "
            f"normalizes by {mode}; without them the numbers stay raw. Save the processors again with the "
            "statistics of the dataset."
        )
    if len({tuple(shapes[statistic]) for statistic in needed}) > 1:
        found = ", ".join(f"{statistic} {list(shapes[statistic])}" for statistic in needed)
        raise UserError(
            f"Checkpoint {folder}: {where} has statistics of {key} that differ in shape: {found}."
        )


def asked_by(raw: Mapping[str, str]) -> str:
    """Return what ``config.json`` asks for, in words."""
    keys: dict[str, list[str]] = {}
    for key, mode in raw.items():
        keys.setdefault(mode, []).append(key)
    return f"{CONFIG} asks for " + "; ".join(f"{mode} of {', '.join(of)}" for mode, of in keys.items())


def _shape(value: object) -> list[int]:
    """Return the shape of numbers in nested lists."""
    return [len(value), *_shape(value[0])] if isinstance(value, list) and value else []
