"""Checkpoint folders of the form in which LeRobot 0.6.1 saves them; their weights are never loaded here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from heedful.policies.lerobot.files import CONFIG, POSTPROCESSOR, PREPROCESSOR, WEIGHTS

HEEDFUL = {
    "observation.images.agent": (3, 96, 128),
    "observation.images.wrist": (3, 64, 64),
    "observation.state": (8,),
    "observation.ee_state": (8,),
}
LIBERO = {
    "observation.images.image": (3, 256, 256),
    "observation.images.image2": (3, 256, 256),
    "observation.state": (8,),
}


def checkpoint_in(
    folder: Path,
    inputs: Mapping[str, tuple[int, ...]] = HEEDFUL,
    action: int = 8,
    kind: str = "act",
    renamed: Mapping[str, str] | None = None,
    measured: Mapping[str, int] | None = None,
    **settings: Any,
) -> Path:
    """Write a checkpoint into ``folder``, which must not be there yet, and return it."""
    folder.mkdir()
    features = {
        key: {"type": "VISUAL" if len(shape) == 3 else "STATE", "shape": list(shape)}
        for key, shape in inputs.items()
    }
    norms = {"VISUAL": "IDENTITY", "STATE": "MEAN_STD", "ACTION": "MEAN_STD"}
    outputs = {"action": {"type": "ACTION", "shape": [action]}}
    config = {
        "type": kind,
        "n_obs_steps": 1,
        "chunk_size": 20,
        "n_action_steps": 10,
        "input_features": features,
        "output_features": outputs,
        "normalization_mapping": norms,
    }
    statistics = "policy_preprocessor_step_1_normalizer_processor.safetensors"
    unstatistics = "policy_postprocessor_step_0_unnormalizer_processor.safetensors"
    steps = [
        {"registry_name": "rename_observations_processor", "config": {"rename_map": dict(renamed or {})}},
        {
            "registry_name": "normalizer_processor",
            "config": {"eps": 1e-8, "features": {**features, **outputs}, "norm_map": norms},
            "state_file": statistics,
        },
    ]
    last = {
        "registry_name": "unnormalizer_processor",
        "config": {"eps": 1e-8, "features": outputs, "norm_map": norms},
        "state_file": unstatistics,
    }
    _write(folder / CONFIG, {**config, **settings})
    _write(folder / PREPROCESSOR, {"name": "policy_preprocessor", "steps": steps})
    _write(folder / POSTPROCESSOR, {"name": "policy_postprocessor", "steps": [last]})
    widths = {key: shape[0] for key, shape in inputs.items() if len(shape) == 1}
    save_statistics(folder / statistics, {**widths, **(measured or {}), "action": action})
    save_statistics(folder / unstatistics, {"action": action})
    save_file({"weight": np.zeros(4, np.float32)}, folder / WEIGHTS)
    return folder


def save_statistics(path: Path, widths: Mapping[str, int], names: Sequence[str] = ("mean", "std")) -> None:
    """Write statistics of features, so many numbers each."""
    found = {f"{key}.{name}": np.ones(width, np.float32) for key, width in widths.items() for name in names}
    save_file(found, path)


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content))
