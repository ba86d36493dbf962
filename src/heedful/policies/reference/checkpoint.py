"""Checkpoints on disk: JSON and safetensors, whole or not there at all."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from heedful.policies.reference.config import VERSION, PolicyConfig
from heedful.policies.reference.network import Network
from heedful.spec.codec import from_json, to_json
from heedful.spec.errors import UserError

CONFIG, WEIGHTS, CURVE, RESUME = "policy.json", "weights.safetensors", "training.json", "resume.safetensors"


def build(config: PolicyConfig) -> Network:
    """Return an untrained network of the form that ``config`` describes."""
    return Network(
        config.training.encoder, config.vocabulary, config.training.words_size, config.table, config.tool
    )


def write(path: Path, content: bytes) -> None:
    """Write ``content`` so that ``path`` is whole at any instant; a failure leaves what was there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, data: object) -> None:
    """Write ``data`` as JSON that a person can read."""
    write(path, (json.dumps(data, indent=1, sort_keys=True) + "\n").encode())


def save(folder: Path, config: PolicyConfig, weights: Mapping[str, Tensor]) -> None:
    """Write a finished checkpoint; ``policy.json`` comes last and holds the weights' digest."""
    content = save_tensors({name: tensor.contiguous() for name, tensor in weights.items()})
    write(folder / WEIGHTS, content)
    write_json(folder / CONFIG, {**to_json(config), "weights_sha256": hashlib.sha256(content).hexdigest()})


def load(folder: Path) -> tuple[PolicyConfig, Network]:
    """Return the configuration and the trained network of the checkpoint in ``folder``.

    Raises:
        UserError: A file is missing, damaged, or of another version.
    """
    config, sha256 = load_config(folder)
    content = _read(folder / WEIGHTS)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise UserError(f"Checkpoint {folder}: {WEIGHTS} is damaged or belongs to another {CONFIG}.")
    network = build(config)
    try:
        network.load_state_dict(load_tensors(content))
    except (SafetensorError, RuntimeError) as error:
        raise UserError(f"Checkpoint {folder}: {WEIGHTS} does not fit {CONFIG}.") from error
    network.eval()
    return config, network


def load_config(folder: Path) -> tuple[PolicyConfig, str]:
    """Return the configuration in ``folder`` and the digest that its weights should have."""
    if not folder.is_dir():
        raise UserError(f"There is no reference policy at {folder}: no such folder.")
    try:
        data: Any = json.loads(_read(folder / CONFIG))
        version, sha256 = data["version"], str(data.pop("weights_sha256"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"Checkpoint {folder}: {CONFIG} is damaged.") from error
    if version != VERSION:
        raise UserError(f"Checkpoint {folder} is of version {version}; this heedful reads version {VERSION}.")
    return from_json(PolicyConfig, data, where=f"checkpoint {folder / CONFIG}"), sha256


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise UserError(f"Checkpoint {path.parent}: {path.name} is missing.") from error
    except OSError as error:
        raise UserError(f"Checkpoint {path.parent}: {path.name} cannot be read: {error.strerror}.") from error
