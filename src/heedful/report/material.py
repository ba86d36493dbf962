"""Everything that a report is made of, already loaded; what a run does not have stays empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heedful.spec.rollout import EpisodeRow, Estimate
from heedful.spec.run import RunSpec


@dataclass(frozen=True)
class Video:
    """A telling rollout; the file is copied into the report.

    Attributes:
        pair: The pair of factors it belongs to: ``color,object``.
        label: The judge's: success, overfit_1, overfit_2, neither.
        path: An mp4 file that browsers play.
        instruction: What the policy was told.
        cell: The two values named: ``red+sphere``.
        caption: What happened, in a sentence.
        policy: Whose rollout it is.
    """

    pair: str
    label: str
    path: Path
    instruction: str
    cell: str = ""
    caption: str = ""
    policy: str = ""


@dataclass(frozen=True)
class Training:
    """How one policy was trained.

    Attributes:
        policy: Its name in the run.
        pair: The pair it was trained on.
        training_seed: Seed of the training.
        loss: (step, loss) points, in order.
        facts: What else there is to say, in words: ``{"text encoder": "minilm", ...}``.
    """

    policy: str
    pair: str
    training_seed: int | None = None
    loss: tuple[tuple[float, float], ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class EncoderResult:
    """FDR of policies that differ in their text encoder only.

    Attributes:
        encoder: The text encoder.
        pair: The pair of factors.
        expected: What is known beforehand, in words: ``negative``; empty when nothing is.
    """

    encoder: str
    pair: str
    fdr: Estimate
    fdr_naive: Estimate | None = None
    in_distribution: Estimate | None = None
    neither: Estimate | None = None
    same_object: Estimate | None = None
    training_seed: int | None = None
    expected: str = ""


@dataclass(frozen=True)
class Material:
    """What ``build`` puts on the page.

    Attributes:
        name: What the run is called.
        metrics: Content of ``metrics.json``.
        known_answer: Content of the ``metrics.json`` of a run with planted policies, if that
            was another run. Planted policies of ``metrics`` are found without it.
        spec: What was asked.
        lock: Content of ``lock.json``: versions, git commit, machine.
        rows: The episodes, for times, errors and the exact instructions.
        videos, trainings: See there.
        encoders: Given only when the compared policies are not all in this run.
        made_at: When the report was made, as it should be printed.
        commands: What to type to make it all again.
    """

    name: str
    metrics: Mapping[str, Any]
    known_answer: Mapping[str, Any] | None = None
    spec: RunSpec | None = None
    lock: Mapping[str, Any] = field(default_factory=dict)
    rows: tuple[EpisodeRow, ...] = ()
    videos: tuple[Video, ...] = ()
    trainings: tuple[Training, ...] = ()
    encoders: tuple[EncoderResult, ...] = ()
    made_at: str = ""
    commands: tuple[str, ...] = ()
