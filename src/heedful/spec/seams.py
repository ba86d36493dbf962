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
    """A running world: reset, step, look; or show what was recorded, and look."""

    @property
    def contract(self) -> WorldContract:
        """What this world offers."""

    def reset(self, scene: SceneSpec, seed: int | np.random.SeedSequence, action_mode: ActionMode) -> State:
        """Place ``scene`` under ``seed``, settle it, and return the first state."""

    def step(self, action: NDArray[np.float64]) -> State:
        """Execute one control step and return the state after it. Never renders."""

    def observe(self, cameras: Sequence[CameraContract], privileged: bool = False) -> Observation:
        """Render ``cameras`` now and return what a policy sees."""

    def show(self, scene: SceneSpec, state: State) -> None:
        """Pose ``scene`` as in a recorded ``state``, for ``observe`` to draw; no physics.

        What is then observed is what was observed live: demonstrations, videos and exported datasets
        are drawn this way. Stepping needs a ``reset`` afterwards.
        """

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


class BatchedPolicy(Policy, Protocol):
    """A policy whose weights serve several episodes at a time; optional, for ``run --share-policy``.

    Whatever an episode changes lives in its session, an object of the policy's own; the policy itself
    stays as it was loaded. ``reset`` is then ``begin`` and ``act`` is ``act_many`` with one session.
    """

    def begin(self, start: Start) -> tuple[Any, str]:
        """Begin one more episode: return its session, and the instruction exactly as received."""

    def act_many(
        self, sessions: Sequence[Any], observations: Sequence[Observation]
    ) -> Sequence[NDArray[np.float64]]:
        """Return the next actions, [T, A], of every session; T = 0 says that its episode is done.

        Change the sessions last: if this raises, each is asked again by itself, so that only the
        episode at fault crashes.

        Args:
            sessions: N of ``begin``, each of another episode, at whatever step; not the same ones
                from call to call.
            observations: What each of them sees, [N].
        """


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
