"""Policies in checkpoint folders that LeRobot saved: ``lerobot:PATH``.

LeRobot itself (Python 3.12) is imported only once a policy is loaded; what a checkpoint says of
itself is read without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from heedful.policies.lerobot.loading import Loaded
    from heedful.policies.lerobot.policy import LeRobotPolicy
    from heedful.policies.lerobot.reference import Described

_in_use: WeakValueDictionary[tuple[str, str, str], Loaded] = WeakValueDictionary()
"""(Folder, digest, device) -> weights in use in this process, for policies that remember nothing."""


def make(rest: str) -> LeRobotPolicy:
    """Return the policy in a checkpoint folder (entry point ``lerobot``).

    Args:
        rest: ``PATH[?KEY=VALUE&...]``; ``docs/lerobot.md`` has the keys.

    Raises:
        UserError: There is no checkpoint, nobody says what its numbers mean or it says other
            things, LeRobot is not installed, or it cannot load the policy.
    """
    from heedful.policies.lerobot.fit import refuse_misfits
    from heedful.policies.lerobot.reference import described

    found = described(rest)
    refuse_misfits(found)
    return loaded(found)


def loaded(found: Described) -> LeRobotPolicy:
    """Return the policy that ``found`` describes.

    Raises:
        UserError: LeRobot is not installed, it cannot load the policy, or the folder is written to.
    """
    from heedful.policies.lerobot.loading import digest_in, load, refuse_if_written
    from heedful.policies.lerobot.policy import ChunkingPolicy, LeRobotPolicy

    checkpoint = found.checkpoint
    if not checkpoint.chunked:
        return LeRobotPolicy(checkpoint, found.conventions, load(found.ref, checkpoint, found.device))
    key = str(checkpoint.folder.absolute()), digest_in(checkpoint.folder), found.device
    weights = _in_use.get(key)
    if weights is None:
        weights = _in_use[key] = load(found.ref, checkpoint, found.device)
    else:
        refuse_if_written(checkpoint)
    return ChunkingPolicy(checkpoint, found.conventions, weights)
