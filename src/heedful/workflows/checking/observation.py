"""What goes out to a policy, for a person to look at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.policies.conventions.conversion import wire_images, wire_state
from heedful.policies.lerobot.policy import LeRobotPolicy
from heedful.policies.remote.policy import RemotePolicy
from heedful.spec.contract import Observation
from heedful.spec.errors import UserError
from heedful.spec.seams import Policy
from heedful.workflows.checking.found import Sent


def sent_parts(policy: Policy, seen: Observation, words: str, pictures: Path | None) -> tuple[Sent, ...]:
    """Return the parts of the observation ``seen`` as ``policy`` gets them; its pictures are saved.

    Args:
        policy: Any policy.
        seen: The observation.
        words: The instruction as it was received, or as it will go out.
        pictures: Folder for the pictures; ``None``: they are not saved.

    Raises:
        UserError: The pictures cannot be written.
    """
    images, state = (
        dict(seen.images_hwc_u8),
        {"proprioception": seen.proprioception, "joint_state": seen.joint_state},
    )
    prompt = "instruction"
    if isinstance(policy, RemotePolicy | LeRobotPolicy):
        images, state = wire_images(policy.conventions, seen), wire_state(policy.conventions, seen)
        prompt = policy.conventions.prompt
    found = [
        Sent(
            key,
            f"uint8 {list(image.shape)}, {image.min()} to {image.max()}, mean {image.mean():.0f}",
            _saved(pictures, key, image),
        )
        for key, image in images.items()
    ]
    found += [
        Sent(key, f"{vector.dtype} {list(vector.shape)}: {', '.join(f'{v:.3f}' for v in vector.ravel())}")
        for key, vector in state.items()
    ]
    found.append(Sent(prompt, repr(words)))
    if isinstance(policy, LeRobotPolicy) and policy.read not in ("", words):
        found.append(Sent(f"{prompt}, pre-processed", repr(policy.read)))
    return tuple(found)


def _saved(folder: Path | None, key: str, image: NDArray[np.uint8]) -> Path | None:
    from heedful.policies.remote.pictures import png_bytes

    if folder is None:
        return None
    path = folder / f"{key.replace('/', '_')}.png"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png_bytes(image))
    except OSError as error:
        raise UserError(f"Cannot write {path}: {error.strerror or error}.") from error
    return path
