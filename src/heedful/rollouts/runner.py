"""A worker's side of a run: world and policies stay loaded from episode to episode."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.policies.references import load as load_policy
from heedful.rollouts.loop import run_episode
from heedful.rollouts.shared.line import Line, SharedPolicy
from heedful.rollouts.watch import LIMITS, Limits, Watch
from heedful.spec.case import Episode
from heedful.spec.contract import Observation, PolicyContract, mismatches
from heedful.spec.errors import UserError
from heedful.spec.plugins import load as load_plugin
from heedful.spec.rollout import EpisodeRow
from heedful.spec.seams import Policy, Start, World
from heedful.store.run_folder import RunFolder


@dataclass(frozen=True)
class ContractCheck:
    """Asks a worker to load the policy ``ref`` and to compare its contract with the world's."""

    ref: str


@dataclass(frozen=True)
class Unloaded:
    """In place of a row: the policy of the episode cannot be made, because of ``reason``."""

    reason: str


@dataclass
class EpisodeRunner:
    """Runs episodes and writes their rollout folders; returns rows, which only the driver appends.

    Attributes:
        folder: The run folder.
        world: Name of the world.
        world_options: Options of the world.
        limits: When it is taken to hang.
        keep: Policies kept loaded at a time, the least recently used leaves first.
    """

    folder: str
    world: str
    world_options: Mapping[str, Any]
    limits: Limits = LIMITS
    keep: int = 2
    _watch: Watch | None = field(default=None, repr=False)
    _line: Line | None = field(default=None, repr=False)
    _opened: RunFolder | None = field(default=None, repr=False)
    _world: World | None = field(default=None, repr=False)
    _policies: OrderedDict[str, Policy] = field(default_factory=OrderedDict, repr=False)

    def watched_by(self, watch: Watch) -> None:
        """Let a driver know through ``watch`` how long everything may take."""
        self._watch = watch

    def served_by(self, host: Connection) -> None:
        """Ask the process behind ``host`` for actions, rather than load policies."""
        self._line = Line(host)

    def __call__(self, item: Episode | ContractCheck) -> EpisodeRow | Unloaded | list[str]:
        """Run an episode, write its folder and return its row; or return what does not fit."""
        return self.compare(item) if isinstance(item, ContractCheck) else self.run(item)

    def compare(self, check: ContractCheck) -> list[str]:
        """Return one line for every way in which world and policy do not fit.

        Raises:
            UserError: The policy cannot be made, or not be shared where it should be.
        """
        world, policy = self._loaded_world(), self._loaded_policy(check.ref, alone=False)
        return mismatches(world.contract, policy.contract)

    def run(self, episode: Episode) -> EpisodeRow | Unloaded:
        """Run ``episode``, write its folder and return its row, or why its policy cannot be made."""
        tracebacks: list[str] = []
        world = self._loaded_world()
        try:
            policy = self._loaded_policy(episode.policy.ref)
        except UserError as error:
            return Unloaded(str(error))
        with self._limited("the world", self.limits.episode_s):
            row, trajectory = run_episode(world, policy, episode, tracebacks.append)
        if self._opened is None:
            self._opened = RunFolder.open(self.folder)
        self._opened.write_rollout(row.id, trajectory, "".join(tracebacks))
        if row.status == "crashed":
            self._discard(episode.policy.ref)
        return row

    def close(self) -> None:
        """Free the world."""
        if self._world is not None:
            self._world.close()
            self._world = None

    def _loaded_world(self) -> World:
        if self._world is None:
            factory = load_plugin("heedful.worlds", self.world)
            with self._limited(f"loading world {self.world}", self.limits.load_s):
                try:
                    self._world = factory(**self.world_options)
                except TypeError as error:
                    raise UserError(
                        f"World {self.world!r} refuses world_options {dict(self.world_options)!r}: {error}."
                    ) from error
        return self._world

    def _loaded_policy(self, ref: str, alone: bool = True) -> Policy:
        """Return the policy ``ref``, loaded here or shared; ``alone``: one that cannot be is loaded here."""
        if ref not in self._policies:
            self._policies[ref] = self._shared(ref, alone) or self._own(ref)
            while len(self._policies) > self.keep:
                self._policies.popitem(last=False)
        self._policies.move_to_end(ref)
        return self._policies[ref]

    def _own(self, ref: str) -> Policy:
        with self._limited(f"loading policy {ref}", self.limits.load_s):
            loaded = load_policy(ref)
        return loaded if self._watch is None else WatchedPolicy(loaded, self._watch, self.limits.call_s)

    def _shared(self, ref: str, alone: bool) -> Policy | None:
        if self._line is None:
            return None
        with self._limited(f"loading policy {ref}", 2 * self.limits.load_s):  # another's may be under way
            loaded = self._line.load(ref)
        if not loaded.not_shared:
            return SharedPolicy(ref, loaded.contract, self._line, self._watch)
        if not alone:
            raise UserError(
                f"Policy {ref!r} cannot be shared: {loaded.not_shared}. Leave out --share-policy, or run "
                "this policy in a command of its own without it; the same folder takes both."
            )
        return None

    def _discard(self, ref: str) -> None:
        """Start afresh after a crash, so that it cannot colour the next episode."""
        self._policies.pop(ref, None)
        self.close()

    def _limited(self, doing: str, limit_s: float) -> AbstractContextManager[None]:
        return nullcontext() if self._watch is None else self._watch.limited(doing, limit_s)


class WatchedPolicy:
    """A policy each of whose calls is limited."""

    def __init__(self, policy: Policy, watch: Watch, call_s: float) -> None:
        self._policy, self._watch, self._call_s = policy, watch, call_s

    @property
    def contract(self) -> PolicyContract:
        """That of the policy itself."""
        return self._policy.contract

    def reset(self, start: Start) -> str:
        """Begin an episode."""
        with self._watch.limited("policy.reset", self._call_s):
            return self._policy.reset(start)

    def act(self, observation: Observation) -> NDArray[np.float64]:
        """Return the next actions."""
        with self._watch.limited(f"policy.act at step {observation.step}", self._call_s):
            return self._policy.act(observation)
