"""Which instructions a policy was trained on, where its checkpoint says so."""

from __future__ import annotations

import json
from pathlib import Path


def taught_instructions(ref: str) -> tuple[str, ...]:
    """Return the instructions of the demonstrations behind ``ref``; empty where it does not say.

    Only a reference policy's checkpoint does. One that is damaged says nothing here: the policy
    itself says what is wrong with it when it is loaded.
    """
    kind, _, rest = ref.partition(":")
    if kind != "reference":
        return ()
    try:
        found = json.loads((Path(rest) / "policy.json").read_text())["taught"]
    except (OSError, ValueError, KeyError, TypeError):
        return ()
    return tuple(found) if isinstance(found, list) and all(isinstance(text, str) for text in found) else ()
