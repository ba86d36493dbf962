"""A checkpoint loaded by LeRobot: the network, and what goes before and after it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import Any

from heedful.policies.digests import digest_of
from heedful.policies.lerobot.checkpoint import Checkpoint
from heedful.policies.lerobot.files import CONFIG, file_states
from heedful.policies.lerobot.folder_names import written
from heedful.spec.errors import UserError

VERSION = "0.6.1"
"""The LeRobot that this was written for and proved with."""

EXTRAS = {"pi0": "pi", "pi05": "pi", "pi0_fast": "pi", "wall_x": "wallx"}
"""Type of policy -> the extra of LeRobot with its packages, where that has another name."""

ONE_AT_A_TIME = RLock()
"""Held while any policy is asked: torch has one state of random numbers for the whole process."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """A policy of LeRobot's; asked only under ``ONE_AT_A_TIME``.

    Attributes:
        network: ``PreTrainedPolicy``, in evaluation mode.
        before: Its pre-processor: a batch with ``task`` to a batch for the network.
        after: Its post-processor: actions [B, A] or [B, T, A] to actions in the checkpoint's units.
        device: Where it runs.
        digest: Of the files that it was loaded from.
    """

    network: Any
    before: Any
    after: Any
    device: str
    digest: str


def refuse_without_lerobot(ref: str) -> None:
    """Refuse where LeRobot is not installed.

    Raises:
        UserError: With what to do instead.
    """
    if find_spec("lerobot") is not None:
        return
    if sys.version_info >= (3, 12):
        raise UserError("A policy lerobot:PATH needs the package 'lerobot': pip install 'heedful[lerobot]'.")
    raise UserError(
        "A policy lerobot:PATH needs the package 'lerobot', which needs Python 3.12; this is "
        f"{sys.version_info.major}.{sys.version_info.minor}. Run heedful from an environment with Python "
        "3.12 and pip install 'heedful[lerobot]', or serve the policy from there: heedful serve --policy "
        f"'{ref}' --protocol openpi --port 8000; here it is then --policy openpi://127.0.0.1:8000."
    )


def load(ref: str, checkpoint: Checkpoint, device: str = "") -> Loaded:
    """Return the policy in ``checkpoint``, as ``lerobot-eval`` would load it.

    Args:
        ref: The whole reference, for the error line where LeRobot is not installed.
        checkpoint: The folder, read.
        device: Such as ``cuda:1``; empty: ``cuda`` if it is there, else ``cpu``.

    Raises:
        UserError: A file is damaged or written to meanwhile, packages are missing, or the device
            is not there.
    """
    refuse_without_lerobot(ref)
    from lerobot.policies.factory import make_pre_post_processors

    chosen = _device(checkpoint, device)
    digest = digest_in(checkpoint.folder)
    config = _config(checkpoint, chosen)
    overrides = {"device_processor": {"device": chosen}} if "device_processor" in checkpoint.before else {}
    folder = str(checkpoint.folder)
    try:
        network = _network(checkpoint, config)
        before, after = make_pre_post_processors(
            config, pretrained_path=folder, preprocessor_overrides=overrides
        )
    except Exception as error:  # LeRobot's parts fail each in their own way
        if isinstance(error, ModuleNotFoundError) or "not installed" in str(error):
            extra = EXTRAS.get(checkpoint.kind, checkpoint.kind.replace("_", "-"))
            raise UserError(
                f"{checkpoint.label} is of type {checkpoint.kind}, which needs more packages "
                f"({_line(error)}): pip install 'lerobot[{extra}]=={VERSION}'."
            ) from error
        raise UserError(
            f"Checkpoint {folder} cannot be loaded: {type(error).__name__}: {_line(error)}"
        ) from error
    refuse_if_written(checkpoint)
    return Loaded(network, before, after, chosen, digest)


def digest_in(folder: Path) -> str:
    """Return the digest that a run keeps of the checkpoint in ``folder``.

    Raises:
        UserError: A file cannot be read.
    """
    return digest_of(f"lerobot:{written(folder)}")


def refuse_if_written(checkpoint: Checkpoint) -> None:
    """Refuse a folder that is another one than when its settings were read.

    Raises:
        UserError: A file was written, or the folder is gone.
    """
    try:
        same = file_states(checkpoint.folder) == checkpoint.written
    except OSError:  # it is gone
        same = False
    if not same:
        raise UserError(
            f"Checkpoint {checkpoint.folder} was written to while it was loaded, so that it may be two "
            "policies in one. Try again once it is whole, or copy it away from the training first."
        )


def _device(checkpoint: Checkpoint, wanted: str) -> str:
    import torch

    if not wanted:
        return "cuda" if torch.cuda.is_available() else "cpu"
    known = _devices()
    if wanted not in known:
        raise UserError(f"{checkpoint.label}: device is {wanted!r}; this machine has {', '.join(known)}.")
    try:
        torch.empty(1, device=wanted)
    except RuntimeError as error:
        raise UserError(f"{checkpoint.label}: device {wanted} cannot be used: {_line(error)}") from error
    return wanted


def _devices() -> list[str]:
    """Return where this machine can run a policy; torch knows more names, such as ``meta``."""
    import torch

    found = ["cpu"]
    for kind, module in (("cuda", torch.cuda), ("xpu", torch.xpu)):
        if module.is_available():
            found += [kind, *(f"{kind}:{i}" for i in range(module.device_count()))]
    return [*found, "mps"] if torch.backends.mps.is_available() else found


def _config(checkpoint: Checkpoint, device: str) -> Any:
    from lerobot.configs import PreTrainedConfig

    try:
        config = PreTrainedConfig.from_pretrained(
            str(checkpoint.folder), local_files_only=True, cli_overrides=[f"--device={device}"]
        )
    except (Exception, SystemExit) as error:  # its parser leaves the process where it refuses
        raise UserError(
            f"Checkpoint {checkpoint.folder}: {CONFIG} is refused by LeRobot {_version()} "
            f"({type(error).__name__}: {_line(error)})"
        ) from error
    config.pretrained_path = checkpoint.folder
    if hasattr(config, "pretrained_backbone_weights"):
        config.pretrained_backbone_weights = None  # to be overwritten at once: not worth a download
    return config


def _network(checkpoint: Checkpoint, config: Any) -> Any:
    from lerobot.policies.factory import get_policy_class
    from lerobot.policies.pretrained import PreTrainedPolicy

    policy = get_policy_class(config.type)
    folder = str(checkpoint.folder)
    if policy.from_pretrained.__func__ is PreTrainedPolicy.from_pretrained.__func__:
        # Not strict, missing weights would be left as random numbers made them.
        network = policy.from_pretrained(folder, config=config, strict=True)
    else:
        network = policy.from_pretrained(folder, config=config)
    return network.to(config.device).eval()


def _version() -> str:
    from importlib.metadata import version

    return version("lerobot")


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:297] + "..."
