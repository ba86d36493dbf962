"""Rollouts under other words, their controls, and which of them belong together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from heedful.spec.paraphrase import Cell

Arm = Literal["paraphrase", "original", "empty_instruction"]
ARMS: tuple[Arm, ...] = ("paraphrase", "original", "empty_instruction")


@dataclass(frozen=True)
class ParaphraseOutcome:
    """How one judged rollout ended.

    Attributes:
        policy: Name of the policy.
        original: The original's exact words: the task, over which intervals are clustered.
        text: The exact words that the policy received.
        key: What the paraphrase is known by; rollouts of equal words and other keys are other
            paraphrases. Empty for controls.
        cell: In which way the words differ, ``None`` where nobody said; ``ORIGINAL`` for
            controls.
        success: Whether the original's goal was reached.
        seed: Training or evaluation seed, empty where there is one or it is unknown.
        scene: What else must agree for two rollouts to have met the same scene, for example a
            case's seed key; empty where the seed says it all.
        arm: ``paraphrase``, or one of the two matched controls.
        keyword_similarity, structural_similarity: S_K and S_T, ``None`` where not known.
    """

    policy: str
    original: str
    text: str
    key: str
    cell: Cell | None
    success: bool
    seed: str = ""
    scene: str = ""
    arm: Arm = "paraphrase"
    keyword_similarity: float | None = None
    structural_similarity: float | None = None

    @property
    def scored(self) -> bool:
        """Return whether both similarities are known."""
        return self.keyword_similarity is not None and self.structural_similarity is not None

    @property
    def place(self) -> tuple[str, str, str]:
        """Return what a rollout shares with its matched controls: task, seed and scene."""
        return self.original, self.seed, self.scene


@dataclass(frozen=True)
class MatchedPair:
    """A rollout and the control that met the same task, seed and scene.

    Attributes:
        outcome: The rollout in other words.
        control: Share of the control's rollouts there that succeeded; 0 or 1 when there is one.
    """

    outcome: ParaphraseOutcome
    control: float


def matched(
    outcomes: Iterable[ParaphraseOutcome], controls: Sequence[ParaphraseOutcome]
) -> list[MatchedPair]:
    """Return the ``outcomes`` that have a control, each with it; the others are left out.

    Args:
        outcomes: Rollouts of one policy.
        controls: Rollouts of the same policy with the original or the empty instruction.
    """
    there: dict[tuple[str, str, str], list[bool]] = {}
    for control in controls:
        there.setdefault(control.place, []).append(control.success)
    return [
        MatchedPair(outcome, sum(ends) / len(ends))
        for outcome in outcomes
        if (ends := there.get(outcome.place))
    ]
