"""The seams that plug-ins implement, and the start a policy is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heedful.spec.case import Case
from heedful.spec.contract import ActionMode, CameraContract, Observation, PolicyContract, WorldContract
from heedful.spec.demonstration import DemonstrationTask
from heedful.spec.rollout import EpisodeRow, Rollout, Verdict
from heedful.spec.scene import SceneSpec
from heedful.spec.state import State


@dataclass(frozen=True)
class Start:
    """What a policy is told at the beginning of an episode.

    Attributes:
        instruction: The exact words; empty in the empty-instruction control.
        seed: For policies that draw random numbers; the same for every policy.
        scene: The scene, only for policies that declare ``privileged_state``.
    """

    instruction: str
    seed: int = 0
    scene: SceneSpec | None = None


class World(Protocol):
    """A running world: reset, step, look."""

    @property
    def contract(self) -> WorldContract:
        """What this world offers."""

    def reset(self, scene: SceneSpec, seed: int | np.random.SeedSequence, action_mode: ActionMode) -> State:
        """Place ``scene`` under ``seed``, settle it, and return the first state."""

    def step(self, action: NDArray[np.float64]) -> State:
        """Execute one control step and return the state after it. Never renders."""

    def observe(self, cameras: Sequence[CameraContract], privileged: bool = False) -> Observation:
        """Render ``cameras`` now and return what a policy sees."""

    def close(self) -> None:
        """Free the renderer."""


class Policy(Protocol):
    """A policy: told once, asked often."""

    @property
    def contract(self) -> PolicyContract:
        """What this policy needs and returns."""

    def reset(self, start: Start) -> str:
        """Begin an episode and return the instruction exactly as the policy received it."""

    def act(self, observation: Observation) -> NDArray[np.float64]:
        """Return the next actions, [T, A]; T = 0 says that the policy is done."""


class Judge(Protocol):
    """A judge of recorded rollouts; never runs a simulator."""

    @property
    def name(self) -> str:
        """The name its verdicts are stored under."""

    def judge(self, rollout: Rollout) -> Verdict:
        """Return what happened; a verdict without label when it cannot tell."""


class Suite(Protocol):
    """A suite: options -> cases; rows and verdicts -> numbers."""

    @property
    def name(self) -> str:
        """The name it is registered under."""

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``given`` with defaults filled in; unknown keys and values are refused."""

    def cases(self, options: Mapping[str, Any]) -> list[Case]:
        """Return everything that is asked, the matched controls included."""

    def tasks(self, options: Mapping[str, Any]) -> list[DemonstrationTask]:
        """Return the demonstrations that teach what the suite asks about."""

    def summarise(
        self, rows: Sequence[EpisodeRow], verdicts: Mapping[str, Verdict], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the content of ``metrics.json``: unrounded, every rate with its interval."""
