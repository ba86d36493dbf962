"""What the page of near and far failures is made of."""

from __future__ import annotations

from dataclasses import dataclass

from heedful.metrics.path_failures import Method, PolicyFailures


@dataclass(frozen=True, eq=False)
class Material:
    """Near and far failures, and where they come from.

    Attributes:
        name: What the page calls the recordings.
        sources: Where the episodes lie, as the user named them.
        method: How near and far were told apart.
        frame_chosen: Whether the frame was chosen by looking at the scenes.
        policies: One entry a policy.
        made_at: When, for the page.
        commands: What was typed, for the page.
    """

    name: str
    sources: tuple[str, ...]
    method: Method
    frame_chosen: bool
    policies: tuple[PolicyFailures, ...]
    made_at: str = ""
    commands: tuple[str, ...] = ()
