"""A suite's cases inside other frameworks' evaluations: which there are, and one at a time.

A framework that drives its own loop asks for groups of cases, plays each with actions of its
own, and gets the verdict of the suite's judge. Scenes and verdicts are those of ``run`` and ``judge``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from heedful.spec.case import Case, Episode, PolicyEntry
from heedful.spec.contract import ActionMode, CameraContract, Observation, PolicyContract
from heedful.spec.errors import UserError, unknown
from heedful.spec.plugins import load as load_plugin
from heedful.spec.rollout import EpisodeRow, Rollout, Verdict
from heedful.spec.seams import Judge, Suite, World
from heedful.spec.seeds import seed_sequence
from heedful.spec.state import State, Trajectory

SUCCESS = "success"
_CONFLICT = "conflict"
_OUTSIDE = PolicyEntry("outside", "outside")


@dataclass(frozen=True)
class CaseGroup:
    """Cases of one arm that are counted together.

    Attributes:
        name: What they are about and their arm, fit for the name of a folder:
            ``color-object_in_distribution``.
        arm: Their arm.
        cases: In the suite's order.
    """

    name: str
    arm: str
    cases: tuple[Case, ...]

    def cells(self) -> dict[str, tuple[Case, ...]]:
        """Return cell -> its cases, such as ``red+cube``; one nameless cell where cases name none."""
        found: dict[str, list[Case]] = {}
        for case in self.cases:
            found.setdefault(case.scoring.get("cell", ""), []).append(case)
        return {cell: tuple(cases) for cell, cases in found.items()}


def case_groups(
    suite: str, options: Mapping[str, Any], arms: Sequence[str] = (), label: str = SUCCESS
) -> list[CaseGroup]:
    """Return the cases of a suite in groups whose share of ``label`` is a number that means something.

    Args:
        suite: Name of the suite.
        options: Its options; defaults are filled in.
        arms: Which arms; empty: those in which a policy is told something and can get ``label``.
            Conflicts are then left out where success is counted: they ask which factor a policy
            follows, and other arms ask whether it succeeds.
        label: What is counted: a label of the suite's judge.

    Raises:
        UserError: Unknown suite, option, arm or label, no cases, or an arm in which no rollout can
            get the label.
    """
    asked: Suite = load_plugin("heedful.suites", suite)()
    judge = _judge(suite)
    cases = asked.cases(asked.options(options))
    groups = _grouped(cases)
    known = list(dict.fromkeys(group.arm for group in groups))
    for arm in arms:
        if arm not in known:
            raise unknown(f"arm of suite {suite} with these options", arm, known)
    labels = {group.name: _labels(judge, group.cases) for group in groups}
    every = list(dict.fromkeys(name for names in labels.values() for name in names))
    if every and label not in (SUCCESS, *every):
        raise unknown(f"label of suite {suite} with these options", label, every)
    if arms:
        chosen = [group for group in groups if group.arm in arms]
        for group in chosen:
            if (can := labels[group.name]) and label not in can:
                fit = [g.arm for g in groups if label in labels[g.name] and g.arm != group.arm]
                raise UserError(
                    f"No rollout of {group.name} can count as {label!r}. Name a label that it can get "
                    f"({', '.join(can)})"
                    + (f", or another arm ({', '.join(dict.fromkeys(fit))})." if fit else ".")
                )
    else:
        chosen = [
            group
            for group in groups
            if any(case.instruction.text for case in group.cases)
            and (not labels[group.name] or label in labels[group.name])
            and not (label == SUCCESS and group.arm == _CONFLICT)
        ]
    if not chosen:
        raise UserError(
            f"Suite {suite} with these options has no cases that are counted as {label!r} unless arms "
            f"are named; it has the arms {', '.join(known) or '(none)'}."
        )
    return chosen


def check_world(cameras: Iterable[str], action_mode: str, world: str = "tabletop") -> float:
    """Return the control rate of ``world`` in Hz once it has these cameras and takes these actions.

    Raises:
        UserError: Unknown world, camera or action mode.
    """
    made: World = load_plugin("heedful.worlds", world)()
    contract = made.contract
    made.close()
    for camera in cameras:
        if camera not in contract.cameras:
            raise unknown(f"camera of world {world}", camera, contract.cameras)
    if action_mode not in contract.action_modes:
        raise unknown(f"action mode of world {world}", action_mode, contract.action_modes)
    return contract.control_hz


class CasePlayer:
    """Plays one case at a time with actions that come from outside.

    The world is made at the first ``begin``, in the process that plays.
    """

    def __init__(
        self, suite: str, action_mode: ActionMode = "joint_absolute", world: str = "tabletop"
    ) -> None:
        """Make a player for the cases of ``suite``.

        Raises:
            UserError: Unknown action mode; an unknown suite or world is refused by ``begin``.
        """
        if action_mode not in get_args(ActionMode):
            raise unknown("action mode", action_mode, get_args(ActionMode))
        self._suite, self._world_name = suite, world
        self._contract = PolicyContract(cameras=(), action_mode=action_mode, control_hz=0.0)
        self._world: World | None = None
        self._judge: Judge | None = None
        self._episode: Episode | None = None
        self._states: list[State] = []

    def begin(self, case: Case, base_seed: int = 0) -> State:
        """Place the scene of ``case`` as ``run`` does under ``base_seed`` and return the first state."""
        if self._world is None:
            made: World = load_plugin("heedful.worlds", self._world_name)()
            self._world = made
            self._judge = _judge(self._suite)
        seed = seed_sequence(base_seed, case.seed_key or case.id)
        self._episode = Episode(case, _OUTSIDE, base_seed)
        self._states = [self._world.reset(case.scene, seed, self._contract.action_mode)]
        return self._states[0]

    def step(self, action: NDArray[np.floating[Any]]) -> State:
        """Execute one action [A] and return the state after it.

        Raises:
            BadActions: The action has the wrong length or is not finite.
        """
        from heedful.rollouts.actions import BadActions, checked_actions

        world, _ = self._begun()
        actions = checked_actions(np.asarray(action)[None], self._contract)
        if not len(actions):
            raise BadActions("the action is empty")
        self._states.append(world.step(actions[0]))
        return self._states[-1]

    def observe(self, cameras: Sequence[CameraContract]) -> Observation:
        """Render ``cameras`` now and return what a policy sees."""
        return self._begun()[0].observe(cameras)

    @property
    def steps(self) -> int:
        """Actions executed since ``begin``."""
        return len(self._states) - 1

    @property
    def trajectory(self) -> Trajectory:
        """The states since ``begin``, the first included."""
        self._begun()
        return Trajectory.stack(self._states)

    def verdict(self) -> Verdict:
        """Return what the suite's judge says of the episode as it is now."""
        _, episode = self._begun()
        assert self._judge is not None
        row = EpisodeRow(
            id=episode.id,
            case=episode.case,
            policy=episode.policy,
            status="finished",
            instruction_received=episode.case.instruction.text,
            base_seed=episode.base_seed,
            steps=self.steps,
        )
        return self._judge.judge(Rollout(row, self.trajectory))

    def close(self) -> None:
        """Free the world; ``begin`` makes it anew."""
        if self._world is not None:
            self._world.close()
        self._world, self._episode, self._states = None, None, []

    def _begun(self) -> tuple[World, Episode]:
        if self._world is None or self._episode is None:
            raise RuntimeError("begin() a case first")
        return self._world, self._episode


def _judge(suite: str) -> Judge:
    judge: Judge = load_plugin("heedful.judges", suite)()
    return judge


def _labels(judge: Judge, cases: Sequence[Case]) -> tuple[str, ...]:
    """Return the labels that every one of ``cases`` can get; empty where the judge does not say."""
    if not hasattr(judge, "labels"):
        return ()
    found: list[tuple[str, ...]] = [judge.labels(case) for case in cases]
    return tuple(name for name in found[0] if all(name in names for names in found))


def _grouped(cases: Iterable[Case]) -> list[CaseGroup]:
    """Return ``cases`` by what they are about and by arm."""
    found: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        about = case.scoring.get("pair") or case.scoring.get("grid") or case.suite
        found.setdefault((about, case.arm), []).append(case)
    return [
        CaseGroup(f"{re.sub(r'[^0-9A-Za-z]+', '-', about)}_{arm}", arm, tuple(listed))
        for (about, arm), listed in found.items()
    ]
