"""A digest of the weights that a reference names, so that a policy trained again is noticed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from heedful.spec.errors import UserError

FILES = {
    "reference": ("policy.json", "weights.safetensors"),
    "lerobot": ("*.json", "*.safetensors"),
}
"""Kind of reference -> the files (patterns) of its folder that make the policy what it is."""


def digest_of(ref: str) -> str:
    """Return a digest of the files behind ``ref``; empty where there are none.

    A planted policy is all in its reference; what a server or a Python factory gives cannot be seen.

    Raises:
        UserError: A file is there and cannot be read.
    """
    kind, _, rest = ref.partition(":")
    folder = Path(rest.partition("?")[0]).expanduser() if kind == "lerobot" else Path(rest)
    found = [path for pattern in FILES.get(kind, ()) for path in sorted(folder.glob(pattern))]
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
