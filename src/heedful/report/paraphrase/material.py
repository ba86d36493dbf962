"""What the paraphrase page is made of."""

from __future__ import annotations

from dataclasses import dataclass

from heedful.metrics.paraphrase_summary import ParaphraseSummary
from heedful.store.paraphrase_results import JoinCounts


@dataclass(frozen=True)
class ParaphraseMaterial:
    """Everything on the page.

    Attributes:
        name: Heading of the page.
        summary: What was measured.
        counts: What became of the rows; ``None`` for a run folder, which loses none.
        lost: Rollouts of a run folder without a verdict, in words -> how many.
        unscored: Why similarities are missing and PRIDE is left out; empty when they are there.
        settings: What was read and how, name and value.
        commands: What was typed.
        made_at: When, for people.
    """

    name: str
    summary: ParaphraseSummary
    counts: JoinCounts | None = None
    lost: tuple[tuple[str, int], ...] = ()
    unscored: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    commands: tuple[str, ...] = ()
    made_at: str = ""
