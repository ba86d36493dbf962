"""The pictures that a policy was trained on, as far as LeRobot's command line says.

LeRobot compares only the names of pictures, and many policies take any size without a word. An
environment is not told which policy it is for, so the command line is read again, by LeRobot's own
functions, as LeRobot itself does for ``--policy.path``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from lerobot.configs import parser

from heedful.policies.lerobot.checkpoint import resizes
from heedful.policies.lerobot.files import CONFIG, read_json
from heedful.spec.errors import UserError

_DATASET = "meta/info.json"


def check_pictures(keys: Sequence[str], image_size: int) -> None:
    """Refuse pictures of another size than those that the policy was trained on.

    In training that is the dataset in ``--dataset.root``, in an evaluation ``config.json`` in
    ``--policy.path``. What is on the hub, or in Python only, is not looked at. A policy that resizes
    its pictures itself is evaluated at any size, with a warning.

    Args:
        keys: The features of pictures, as the environment offers them.
        image_size: Their height and width, in px.

    Raises:
        UserError: With the size that would do.
    """
    root, policy = parser.parse_arg("dataset.root"), parser.get_path_arg("policy")
    if root is not None:
        found = _read(root, _DATASET).get("features")
        taught, where, resizing = _sizes(found), f"the dataset in {root}", False
    elif policy is not None:
        config = _read(policy, CONFIG)
        taught, where, resizing = _sizes(config.get("input_features")), policy, resizes(config)
    else:
        return
    renamed = _renamed()
    for key in keys:
        size = taught.get(renamed.get(key, key), (image_size, image_size))
        if size == (image_size, image_size):
            continue
        line = f"image_size is {image_size}; {where} has {key} as {size[0]} x {size[1]} px"
        if resizing:
            logging.warning("heedful: %s. The policy resizes pictures itself; is that what you want?", line)
            return
        square = size[0] == size[1]
        raise UserError(
            f"{line}. {f'Say --env.image_size={size[0]}' if square else 'Only squares are shown here'}; "
            "heedful run shows every policy its own sizes."
        )


def _read(folder: str, name: str) -> dict[str, Any]:
    try:
        return read_json(Path(folder), name)
    except UserError:  # not on this disk, or damaged: LeRobot has its own words for that
        return {}


def _sizes(features: object) -> dict[str, tuple[int, int]]:
    """Return picture -> height and width; datasets name the colors last, policies first."""
    found = {}
    for key, feature in features.items() if isinstance(features, Mapping) else ():
        match feature.get("shape") if isinstance(feature, Mapping) else None:
            case [3, height, width] | [height, width, 3]:
                found[key] = (height, width)
    return found


def _renamed() -> dict[str, str]:
    """Return what ``--rename_map`` says: a feature of the environment -> that of the policy."""
    try:
        found = yaml.safe_load(parser.parse_arg("rename_map") or "{}")
    except yaml.YAMLError:  # LeRobot has its own words for that
        return {}
    return {str(old): str(new) for old, new in found.items()} if isinstance(found, dict) else {}
