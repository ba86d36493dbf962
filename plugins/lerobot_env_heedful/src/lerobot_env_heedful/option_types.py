"""Whether options are of the kinds that they must be: a config made in Python may hold anything."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

from heedful.spec.errors import UserError
from heedful.workflows.collecting import IMAGE_SIZES_PX

if TYPE_CHECKING:
    from lerobot_env_heedful.config import HeedfulEnvConfig

TEXTS = ("suite", "pairs", "factors", "arms", "label", "split", "cameras", "action_mode")

LEAST = {
    "base_seed": 0,
    "first_seed": 0,
    "max_steps": 1,
    "image_size": IMAGE_SIZES_PX[0],
    "video_size": IMAGE_SIZES_PX[0],
    "fps": 1,
    "max_parallel_tasks": 1,
}
"""Whole numbers -> the least that each may be."""

LISTS = {
    "pairs": (";", "color,object"),
    "factors": (",", "color,object"),
    "arms": (",", "in_distribution"),
    "cameras": (",", "agent,wrist"),
}
"""Texts that list names -> what is between the names, and an example."""


def check_types(config: HeedfulEnvConfig) -> None:
    """Refuse options of another kind than they must be, and lists that name nothing or one thing twice.

    Raises:
        UserError: Names the option, what was found and what would do.
    """
    values = {name: getattr(config, name) for name in (*TEXTS, *LEAST, "options", "task_ids")}
    for name in TEXTS:
        if not isinstance(values[name], str):
            raise _wrong(name, values[name], "a text")
    for name, least in LEAST.items():
        value = values[name]
        if not (_whole(value) and value >= least or (name == "max_steps" and value is None)):
            raise _wrong(name, value, f"a whole number from {least} on")
    options = values["options"]
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise _wrong("options", options, "a mapping of names to values, such as {rollouts: 40}")
    numbers = values["task_ids"]
    if numbers is not None and not (isinstance(numbers, list | tuple) and all(map(_whole, numbers))):
        raise _wrong("task_ids", numbers, "a list of task numbers, such as [0,3]")
    for name, (separator, example) in LISTS.items():
        named = listed(values[name], separator)
        if not named and (values[name] or name == "cameras"):
            raise _wrong(name, values[name], f"names, such as {example}")
        for one in named:
            if named.count(one) > 1:
                raise UserError(f"{name} names {one!r} twice; name it once.")


def listed(text: str, separator: str) -> tuple[str, ...]:
    """Return the names in ``text``."""
    return tuple(part.strip() for part in text.split(separator) if part.strip())


def _whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _wrong(name: str, found: Any, needed: str) -> UserError:
    return UserError(f"{name} is {' '.join(repr(found).split())}; it must be {needed}.")
