"""The state judge's thresholds with their reasons, as its own source states them."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, fields

from heedful.spec import manipulation
from heedful.spec.manipulation import RULES, ManipulationRules

_ATTRIBUTE = re.compile(r"^(\w+(?:, \w+)*): (.*)$")


@dataclass(frozen=True)
class Threshold:
    """A threshold: its name, its value with the unit of its name, and why."""

    name: str
    value: str
    reason: str


def thresholds(rules: ManipulationRules = RULES) -> tuple[Threshold, ...]:
    """Return every threshold; the reason is empty where docstrings were stripped."""
    reasons = _reasons()
    return tuple(
        Threshold(f.name, _value(f.name, getattr(rules, f.name)), reasons.get(f.name, ""))
        for f in fields(rules)
    )


def order_of_rules() -> str:
    """Return the rules in the order in which they are tried, as preformatted text."""
    text = inspect.cleandoc(manipulation.__doc__ or "")
    paragraphs = text.split("\n\n")
    start = next((i for i, p in enumerate(paragraphs) if p.startswith("1.")), None)
    return "" if start is None else "\n\n".join(paragraphs[start:])


def _reasons() -> dict[str, str]:
    found: dict[str, str] = {}
    names: list[str] = []
    documented = inspect.cleandoc(ManipulationRules.__doc__ or "").partition("Attributes:")[2]
    for line in documented.splitlines():
        indent, words = len(line) - len(line.lstrip()), line.strip()
        match = _ATTRIBUTE.match(words) if indent <= 4 else None
        if match:
            names = match[1].split(", ")
            found |= dict.fromkeys(names, match[2])
        elif words:
            found |= {name: f"{found[name]} {words}" for name in names}
    # The docstring opens with the default value; the value is a column of its own.
    return {
        name: re.sub(r"^[\d.]+(?: m)?(?:, [\d.]+ rad)?(?: \([^)]*\))?\. ", "", r) for name, r in found.items()
    }


def _value(name: str, value: float) -> str:
    for suffix, unit in (("_m", "m"), ("_rad", "rad"), ("_steps", "steps")):
        if name.endswith(suffix):
            return f"{value:g} {unit}"
    return f"{value:g}"
