"""Options on the conventions of policy servers, as short for keys of their references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

Flip = Annotated[
    str | None,
    typer.Option(
        "--flip", help="How pictures are turned for a policy server: none, vertical, horizontal or both."
    ),
]
GripperSign = Annotated[
    str | None,
    typer.Option(
        "--gripper-sign",
        help="A policy server's gripper: close_positive, close_negative, close_one or open_one.",
    ),
]


def composed(policies: Sequence[str], flip: str | None, gripper_sign: str | None) -> list[str]:
    """Return ``policies``, those behind servers with what the options say of them.

    Raises:
        UserError: An option is given, but none of the policies is a server.
    """
    given = {"flip": flip, "gripper": gripper_sign}
    changes = {key: value for key, value in given.items() if value is not None}
    if not changes or not policies:
        return list(policies)
    from heedful.cli.requests import named
    from heedful.policies.conventions.changes import KINDS, with_changes

    def changed(text: str) -> str:
        _, ref = named(text)
        return text.removesuffix(ref) + with_changes(ref, changes) if takes(ref) else text

    def takes(ref: str) -> bool:
        return ref.partition(":")[0] in KINDS

    if not any(takes(named(text)[1]) for text in policies):
        with_changes(named(policies[0])[1], changes)  # says why not
    return [changed(text) for text in policies]
