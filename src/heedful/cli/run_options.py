"""Options on what is asked of which policies and on how it is run, shared by the verbs that run policies."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class OnError(StrEnum):
    """What a crashed episode does to the others."""

    go_on = "continue"
    stop = "stop"


Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        help="Policy reference, such as reference:policies/co, or NAME=REFERENCE; repeatable.",
    ),
]
WorldName = Annotated[str | None, typer.Option("--world", help="Name of the world.")]
BaseSeed = Annotated[int | None, typer.Option("--base-seed", min=0, help="Root of every random number.")]
RetryCrashed = Annotated[bool, typer.Option("--retry-crashed", help="Run the episodes that crashed again.")]
OnErrorChoice = Annotated[
    OnError, typer.Option("--on-error", help="Whether to go on after an episode that crashed.")
]
Ray = Annotated[
    str | None,
    typer.Option("--ray", help="Run the workers on a Ray cluster: its address, auto, or local."),
]
SharePolicy = Annotated[
    bool,
    typer.Option(
        "--share-policy",
        help="Hold the policy once, in one process that answers all workers in batches: the same "
        "episodes and words; actions equal up to rounding, not to the last bit.",
    ),
]
TimeLimit = Annotated[
    float,
    typer.Option("--time-limit", min=1, help="Seconds until an episode is killed and tried once more."),
]
CallLimit = Annotated[float, typer.Option("--call-limit", min=1, help="The same for one call of the policy.")]
LoadLimit = Annotated[
    float, typer.Option("--load-limit", min=1, help="The same for loading a policy or the world.")
]
