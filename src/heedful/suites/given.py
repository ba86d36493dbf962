"""What users give as options of a suite, checked in the ways that all suites share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, TypeVar

from heedful.spec.codec import from_json, refuse_odd_numbers
from heedful.spec.errors import UserError, unknown

Options = TypeVar("Options")

MAX_COUNT = 100_000
"""Rollouts or demonstrations; more is a slip of the keyboard and would fill the memory."""


def known(kind: type[Any], given: Mapping[str, Any], suite: str) -> dict[str, Any]:
    """Return a copy of ``given`` once all of its keys are options.

    Args:
        kind: Dataclass of the suite's options.
        given: Option -> value.
        suite: Name of the suite.

    Raises:
        UserError: An unknown option; the nearest valid one is suggested.
    """
    names = [f.name for f in fields(kind)]
    for key in given:
        if key not in names:
            raise unknown(f"option of suite {suite}", str(key), names)
    return dict(given)


def checked(kind: type[Options], found: Mapping[str, Any], suite: str) -> Options:
    """Return ``found`` as options.

    Raises:
        UserError: A value has the wrong type, or a count is no whole number from 0 on.
    """
    where = f"options of suite {suite}"
    refuse_odd_numbers(kind, found, where=where)
    return from_json(kind, found, where=where)


def plain(options: Any) -> dict[str, Any]:
    """Return options as plain data, lists for tuples, as a run's spec keeps them."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(options).items()}


def refuse_many(options: object, names: tuple[str, ...], suite: str, each: str = "") -> None:
    """Refuse counts above ``MAX_COUNT``.

    Args:
        options: Checked options.
        names: Which of them are counts.
        suite: Name of the suite.
        each: What they are counted by, for the error line: ``a pair``.

    Raises:
        UserError: Names the first that is too many.
    """
    for name in names:
        if getattr(options, name) > MAX_COUNT:
            most = f"{MAX_COUNT} {each}".strip()
            raise UserError(
                f"Option {name} of suite {suite} is {getattr(options, name)}; it cannot be more than {most}."
            )
