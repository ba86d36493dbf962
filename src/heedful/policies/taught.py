"""What a reference policy's checkpoint says of its training: the seed, and the instructions it taught.

A checkpoint that is damaged says nothing here: the policy itself says what is wrong with it when
it is loaded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def taught_instructions(ref: str) -> tuple[str, ...]:
    """Return the instructions of the demonstrations behind ``ref``; empty where it does not say."""
    found = _said(ref).get("taught")
    return tuple(found) if isinstance(found, list) and all(isinstance(text, str) for text in found) else ()


def training_seed_of(ref: str) -> int | None:
    """Return the seed of the training behind ``ref``; ``None`` where it does not say."""
    seed = _said(ref).get("seed")
    return seed if isinstance(seed, int) and not isinstance(seed, bool) else None


def _said(ref: str) -> dict[str, Any]:
    kind, _, rest = ref.partition(":")
    if kind != "reference":
        return {}
    try:
        found = json.loads((Path(rest) / "policy.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
