"""Values of a reference's query or of a YAML file, read: a reader raises ValueError with what would do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from heedful.spec.contract import CameraContract

Reader = Callable[[Any], Any]


def text(value: Any) -> str:
    """Return a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ValueError("a text")
    return value


def number(value: Any) -> float:
    """Return a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError("a number") from None


def limit(value: Any) -> float:
    """Return a number that can limit something."""
    found = number(value)
    if not 0 < found < 1e6:
        raise ValueError("above 0 and below a million")
    return found


def count(value: Any) -> int | None:
    """Return a whole number, or ``None`` for ``none``."""
    if value in (None, "none"):
        return None
    if isinstance(value, bool) or not str(value).isdecimal():
        raise ValueError("a whole number or none")
    return int(value)


def truth(value: Any) -> bool:
    """Return a truth value."""
    names = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if str(value).lower() not in names:
        raise ValueError("true or false")
    return names[str(value).lower()]


def size(value: Any) -> tuple[int, int]:
    """Return height and width in px, from ``224`` or ``240x320``."""
    sides = [side.strip() for side in str(value).lower().split("x")]
    if len(sides) > 2 or not all(side.isdecimal() for side in sides):
        raise ValueError("pixels, such as 224 or 240x320 (height x width)")
    return int(sides[0]), int(sides[-1])


def cameras(value: Any) -> dict[str, CameraContract]:
    """Return cameras, from ``{key: camera}`` or ``key:camera,key:camera``; ``agent@240x320`` has a size."""
    pairs = value if isinstance(value, dict) else _pairs(value, "KEY:CAMERA[@SIZE],...")
    found = {}
    for key, shown in pairs.items():
        name, _, pixels = text(shown).partition("@")
        found[str(key)] = CameraContract(name, *size(pixels or 224))
    return found


def state(value: Any) -> dict[str, tuple[str, ...]]:
    """Return state layouts, from ``{key: [piece, ...]}`` or ``key:piece+piece,key:piece``."""
    pairs = value if isinstance(value, dict) else _pairs(value, "KEY:PART+PART,...")
    return {
        str(key): tuple(pieces if isinstance(pieces, list | tuple) else str(pieces).split("+"))
        for key, pieces in pairs.items()
    }


def _pairs(value: Any, shape: str) -> dict[str, str]:
    if value == "none":
        return {}
    found = {}
    for item in str(value).split(","):
        key, colon, content = item.partition(":")
        if not colon or not key or not content:
            raise ValueError(shape)
        found[key] = content
    return found


CHANGES: dict[str, tuple[str, Reader]] = {
    "cameras": ("cameras", cameras),
    "size": ("cameras", size),
    "flip": ("flip", text),
    "state": ("state", state),
    "prompt": ("prompt", text),
    "action": ("action", text),
    "rotation": ("rotation", text),
    "scale_m": ("scale_m", number),
    "scale_rad": ("scale_rad", number),
    "clip": ("clip", truth),
    "gripper": ("gripper", text),
    "gripper_binary": ("gripper_binary", truth),
    "rate": ("control_hz", number),
    "chunk": ("chunk", count),
    "replan": ("replan", count),
}
"""Key of the query and of the YAML file -> field of ``Conventions``, and how its value is read."""
