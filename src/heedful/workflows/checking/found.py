"""What is found when a policy is compared with a world and asked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heedful.policies.conventions.advice import Advice
from heedful.policies.conventions.comparison import Line


@dataclass(frozen=True)
class Sent:
    """A part of the observation that went out.

    Attributes:
        key: Its name; on the wire if there is one.
        content: Shape and range, or the text itself.
        picture: Where it was saved; ``None`` where there is nothing to look at.
    """

    key: str
    content: str
    picture: Path | None = None


@dataclass(frozen=True)
class Dimension:
    """One number of the actions that came back, over the chunk."""

    name: str
    low: float
    high: float


@dataclass(frozen=True)
class PolicyCheck:
    """What was found.

    Attributes:
        policy, world: What was compared.
        lines: The comparison.
        metadata: What a server or a checkpoint says of itself, shortened; empty without one.
        sent: What went out; empty if nothing was asked.
        chunk: Actions that came back.
        answer: Range of each of their numbers.
        advice: What looks wrong in them.
        error: Why there is no answer; empty if there is one.
        notes: What to know about the conventions that were chosen.
        remedy: What mends all lines that are wrong at once; empty where nothing does.
    """

    policy: str
    world: str
    lines: tuple[Line, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    sent: tuple[Sent, ...] = ()
    chunk: int = 0
    answer: tuple[Dimension, ...] = ()
    advice: tuple[Advice, ...] = ()
    error: str = ""
    notes: tuple[str, ...] = ()
    remedy: str = ""

    @property
    def fits(self) -> bool:
        """No line of the comparison is wrong."""
        return all(line.outcome != "wrong" for line in self.lines)

    @property
    def wrong(self) -> list[str]:
        """Return one line for everything that must be mended."""
        found = [self.remedy] if self.remedy else []
        found += [f"{line.what}: {_difference(line)}" for line in self.lines if line.outcome == "wrong"]
        found += [
            f"{one.line}{f' Try {one.option}.' if one.option else ''}" for one in self.advice if one.certain
        ]
        return found + ([self.error] if self.error else [])


def _difference(line: Line) -> str:
    """Return from what the policy differs: from what it says of itself or, if it does not, from the world."""
    differs = line.said not in ("", line.policy)
    other = f"it says of itself {line.said}" if differs else f"the world: {line.world}"
    mend = f" Mend: {line.mend}." if line.mend else ""
    return f"heedful takes for granted {line.policy}; {other}.{mend}"
