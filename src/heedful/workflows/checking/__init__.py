"""Whether a policy fits a world: contracts compared, one real observation sent, one answer looked at."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.rollouts.watch import LIMITS, Limits
from heedful.spec.codec import digest
from heedful.workflows.checking.found import Dimension, PolicyCheck, Sent

if TYPE_CHECKING:
    from heedful.rollouts.pool import Lost

__all__ = ["Dimension", "PolicyCheck", "Sent", "check_policy", "pictures_folder"]

_LONGEST_SLUG = 80


def check_policy(
    ref: str, world: str = "tabletop", pictures: Path | None = None, limits: Limits = LIMITS
) -> PolicyCheck:
    """Return whether the policy ``ref`` fits ``world``, after asking it once.

    The policy lives in a process of its own: one that hangs is killed at a limit, and whatever
    becomes of it, what was found before is returned.

    Args:
        ref: Policy reference.
        world: Name of the world.
        pictures: Folder for the pictures that went out; ``None``: they are not saved.
        limits: When the policy is taken to hang.

    Raises:
        UserError: The policy or the world cannot be made, or the pictures cannot be written.
    """
    from heedful.rollouts.pool import Lost, Pool, WorkerFailed
    from heedful.workflows.checking.asking import STEPS, Asking, Missing

    check = PolicyCheck(ref, world)
    with Pool(1, retries=0).crew(Asking(ref, world, pictures, limits)) as crew:
        for step in STEPS:
            try:
                (result,) = crew.unordered([step])
            except WorkerFailed as failed:  # somebody else's code, such as a contract that raises
                return replace(check, error=f"It fails at {step}: {str(failed).strip().splitlines()[-1]}")
            if isinstance(result, Lost):
                return replace(check, error=_lost(result, step))
            if isinstance(result.value, Missing):
                raise ModuleNotFoundError(result.value.line, name=result.value.name)
            check = result.value
            if check.error or not check.fits:  # nothing is sent while the contracts do not fit
                break
    return check


def pictures_folder(parent: Path, ref: str) -> Path:
    """Return the folder in ``parent`` for what the policy ``ref`` is sent; other policies have others.

    >>> pictures_folder(Path("runs/check"), "openpi://127.0.0.1:8000?flip=both").as_posix()
    'runs/check/openpi-127.0.0.1-8000-flip-both'
    """
    slug = re.sub(r"[^\w.]+", "-", ref).strip("-.") or "policy"
    if len(slug) > _LONGEST_SLUG:
        slug = f"{slug[:_LONGEST_SLUG]}-{digest(ref)}"
    return parent / slug


def _lost(lost: Lost, step: str) -> str:
    """Return the line for a policy, or a world, that took its process with it."""
    from heedful.workflows.checking.asking import RENDERING

    who = "world" if step == RENDERING else "policy"
    if lost.reason.startswith("killed after"):
        longer = "; --call-limit waits longer" if step.startswith("policy.") else ""
        return f"The {who} hangs: {lost.reason}{longer}."
    return f"The {who} ended the process that it ran in, at {step}: {lost.reason}."
