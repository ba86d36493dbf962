"""The reference policy: small, trained by imitation from pixels and words on a CPU in minutes.

It sees what a real policy would see: two calibrated cameras, proprioception and the text of
the instruction. Both images are warped onto the table plane, so that every feature lives in
metres; words point at a place in that map, and the next keypose is read off there.
"""

from __future__ import annotations

from heedful.policies.reference.config import ENCODERS, TrainingConfig
from heedful.spec.seams import Policy

__all__ = ["ENCODERS", "TrainingConfig", "make"]


def make(rest: str) -> Policy:
    """Return the policy whose checkpoint folder is ``rest`` (entry point ``reference``).

    Raises:
        UserError: The folder or one of its files is missing, damaged or of another version.
    """
    from heedful.policies.reference.policy import ReferencePolicy  # imports torch

    return ReferencePolicy.load(rest)
