"""A finished episode and what judges say of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from heedful.spec.case import Case, PolicyEntry
from heedful.spec.state import Trajectory

Status = Literal["finished", "crashed"]


@dataclass(frozen=True)
class EpisodeRow:
    """One row of ``episodes.jsonl``.

    Attributes:
        id: Episode identity, the name of its rollout folder.
        case: The case as asked.
        policy: Who was asked.
        status: ``crashed`` when the world or the policy raised or hung; counted apart.
        instruction_received: The EXACT string that the policy received.
        steps: Control steps executed.
        looks: How often the policy was asked to act.
        wall_s: Wall-clock time of the whole episode.
        policy_s: Of which inside the policy.
        error: One line, empty unless crashed.
        attempts: How often it was begun; more than once when its worker died or hung.
        clipped: Executed actions with a number beyond what a robot here can do, such as a gripper
            opening of -1; the world clips them.
    """

    id: str
    case: Case
    policy: PolicyEntry
    status: Status
    instruction_received: str
    base_seed: int
    steps: int = 0
    looks: int = 0
    wall_s: float = 0.0
    policy_s: float = 0.0
    error: str = ""
    attempts: int = 1
    clipped: int = 0


@dataclass(frozen=True, eq=False)
class Rollout:
    """What a judge gets: the row and, unless it crashed, the recorded states."""

    row: EpisodeRow
    trajectory: Trajectory | None


@dataclass(frozen=True)
class Verdict:
    """What one judge says of one rollout.

    Attributes:
        episode: Episode id.
        judge: Name of the judge.
        label: ``None`` when it abstained.
        score: In [0, 1], or ``None``.
        reason: One sentence.
        evidence: Plain facts behind the label, for example the object touched first.
    """

    episode: str
    judge: str
    label: str | None
    score: float | None = None
    reason: str = ""
    evidence: Mapping[str, str | int | float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Estimate:
    """A number with its uncertainty; unrounded.

    Attributes:
        value: ``None`` when undefined (for example an FDR with nothing overfit).
        low, high: Ends of the interval at ``level``; ``None`` when undefined.
        n: Observations behind it.
        method: How the interval was made, in words fit for a table's footnote.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    method: str
    level: float = 0.95
