"""The name under which a folder's run knows its policies."""

from __future__ import annotations

from pathlib import Path

from heedful.spec.errors import UserError
from heedful.store.run_files import is_run
from heedful.store.run_folder import RunFolder

POLICIES = "policies"
"""Subfolder of a job's folder in which the policies that it trained lie."""


def as_first_named(out: Path, run: Path) -> Path:
    """Return ``out`` as it was spelt when its run began, which is how the run names its policies.

    A run tells policies apart by their references, and these hold the path: named otherwise, the
    same policies would be taken for others.

    Args:
        out: The folder of a job that trains policies into ``out/policies``.
        run: The run in which they are asked; ``out`` itself or a folder in it.

    Raises:
        UserError: The run names policies of another folder: it was moved, copied, or is named from
            another place.
    """
    if not is_run(run):
        return out
    for entry in RunFolder.open(run).spec.policies:
        folder = Path(entry.ref.partition(":")[2])
        if folder.parent.name != POLICIES:
            continue
        known = folder.parent.parent
        if known.resolve() != out.resolve():
            raise UserError(
                f"{out} was made as {known}, and its run names its policies so: type that name from the "
                "place where it was made, or choose a new folder."
            )
        return known
    return out
