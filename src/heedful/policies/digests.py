"""What makes a policy the one that it is, so that another one behind the same reference is noticed."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from heedful.policies.lerobot.folder_names import folder_named
from heedful.spec.errors import UserError

FILES = {
    "reference": ("policy.json", "weights.safetensors"),
    "lerobot": ("*.json", "*.safetensors"),
}
"""Kind of reference -> the files (patterns) of its folder that make the policy what it is."""

_LONGEST = 64


def identity_of(ref: str, policy: object) -> str:
    """Return what tells ``policy``, made from ``ref``, from another one behind the same reference.

    That is what the policy says in an attribute ``identity`` (a text), or else a digest of the
    files behind ``ref``; empty where neither is known. A planted policy is all in its reference.

    Raises:
        UserError: A file is there and cannot be read.
    """
    said = getattr(policy, "identity", "")
    return str(said)[:_LONGEST] if isinstance(said, str) and said else digest_of(ref)


def digest_of(ref: str) -> str:
    """Return a digest of the files behind ``ref``; empty where there are none.

    Of a checkpoint folder these are its weights and settings; of a Python factory the file of its
    module, not what that imports or loads. What a server holds cannot be seen from here.

    Raises:
        UserError: A file is there and cannot be read.
    """
    kind, _, rest = ref.partition(":")
    found = _module_files(rest) if kind == "python" else _checkpoint_files(kind, rest)
    if not found:
        return ""
    whole = hashlib.sha256()
    for path in found:
        try:
            with path.open("rb") as file:
                whole.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            raise UserError(f"Cannot read {path}: {error.strerror or error}.") from error
    return whole.hexdigest()[:12]


def _checkpoint_files(kind: str, rest: str) -> list[Path]:
    if kind not in FILES:
        return []
    folder = Path(rest)
    if kind == "lerobot":
        try:
            folder = folder_named(rest.partition("?")[0])
        except RuntimeError:  # a home that is not there: the policy itself says so when it is loaded
            return []
    return [path for pattern in FILES[kind] for path in sorted(folder.glob(pattern))]


def _module_files(rest: str) -> list[Path]:
    """Return the file of the module in ``module:factory``, found without importing anything."""
    where: Sequence[str] | None = [*sys.path, str(Path.cwd())]
    found: ModuleSpec | None = None
    name = ""
    for part in rest.partition(":")[0].split("."):
        name = f"{name}.{part}" if name else part
        found = PathFinder.find_spec(name, where) if where is not None else None
        where = None if found is None else found.submodule_search_locations
    return [Path(found.origin)] if found is not None and found.has_location and found.origin else []
