"""What was run, as rows of names and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heedful.report import words
from heedful.report.material import Material
from heedful.spec.codec import to_json

_PER_POLICY_AND_PAIR = ("rollouts", "in_distribution", "empty")


def settings(material: Material) -> list[tuple[str, str]]:
    """Return the specification without its policies, then versions and machine."""
    asked: dict[str, Any] = {}
    if material.spec is not None:
        asked = to_json(material.spec)
        asked.pop("policies", None)
        options = dict(asked.get("options", {}))
        options.pop("demos", None)  # belongs to collecting
        for name in _PER_POLICY_AND_PAIR:
            if name in options:
                options[name] = f"{options[name]} per policy, training seed and pair"
        asked["options"] = options
    return [*_flat(asked), *_flat(material.lock)]


def times(material: Material) -> list[tuple[str, str]]:
    """Return how many episodes were run and what they took; empty without rows."""
    rows = [r for r in material.rows if r.status == "finished"]
    if not rows:
        return []
    wall, policy = sum(r.wall_s for r in rows), sum(r.policy_s for r in rows)
    steps = sum(r.steps for r in rows)
    return [
        ("episodes finished", f"{len(rows):,}"),
        ("episodes crashed", f"{len(material.rows) - len(rows):,}"),
        ("worker time", f"{wall / 60:.1f} min, {1000 * wall / len(rows):.0f} ms an episode"),
        ("of which in the policy", words.percent(policy / wall, 0) if wall else "–"),
        ("control steps", f"{steps:,}, {steps / len(rows):.0f} an episode"),
    ]


def _flat(data: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in data.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            found += _flat(value, f"{name}.")
        elif isinstance(value, list | tuple):
            if value and isinstance(value[-1], Mapping):
                found += _flat(
                    value[-1], f"{name} (last of {len(value)}): " if len(value) > 1 else f"{name}: "
                )
            else:
                found.append((name, "; ".join(map(str, value))))
        elif value not in (None, ""):
            found.append((name, str(value)))
    return found
