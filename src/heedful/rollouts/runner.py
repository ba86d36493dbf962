"""A worker's side of a run: world and policies stay loaded from episode to episode."""

from __future__ import annotations

import multiprocessing
import os
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from heedful.rollouts.failures import one_line, plain, safe_traceback
from heedful.rollouts.loading import load as load_policy
from heedful.rollouts.loop import check_contracts, lost_row, run_episode
from heedful.rollouts.shared.line import Line, SharedPolicy
from heedful.rollouts.surroundings import Surroundings
from heedful.rollouts.watch import LIMITS, Limits, Watch
from heedful.rollouts.watched_policy import WatchedPolicy
from heedful.spec.case import Episode
from heedful.spec.contract import mismatches
from heedful.spec.errors import UserError
from heedful.spec.plugins import load as load_plugin
from heedful.spec.rollout import EpisodeRow
from heedful.spec.seams import World
from heedful.spec.state import Trajectory
from heedful.store.run_folder import RunFolder


@dataclass(frozen=True)
class ContractCheck:
    """Asks a worker to load the policy ``ref`` and to compare its contract with the world's."""

    ref: str


@dataclass(frozen=True)
class Compared:
    """What came of a ``ContractCheck``.

    Attributes:
        mismatches: One line for every way in which world and policy do not fit.
        identity: What tells the policy from another one behind the same reference; empty if unknown.
        training_seed: Of the training run it comes from, if it says so.
    """

    mismatches: tuple[str, ...]
    identity: str
    training_seed: int | None


@dataclass(frozen=True)
class Unloaded:
    """In place of a row: the policy of the episode cannot be used, because of ``reason``."""

    reason: str


@dataclass(frozen=True, eq=False)
class _Kept:
    """A policy at hand, and what it said of itself when it was loaded."""

    policy: WatchedPolicy | SharedPolicy
    identity: str
    training_seed: int | None


@dataclass
class EpisodeRunner:
    """Runs episodes and writes their rollout folders; returns rows, which only the driver appends.

    Attributes:
        folder: The run folder; a relative one is that of the process that makes the runner.
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
    _policies: OrderedDict[str, _Kept] = field(default_factory=OrderedDict, repr=False)
    _not_shared: set[str] = field(default_factory=set, repr=False)
    _surroundings: Surroundings | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.folder:  # a policy may change the current folder
            self.folder = os.path.abspath(self.folder)

    def watched_by(self, watch: Watch) -> None:
        """Let a driver know through ``watch`` how long everything may take."""
        self._watch = watch

    def served_by(self, host: Connection) -> None:
        """Ask the process behind ``host`` for actions, rather than load policies."""
        self._line = Line(host)

    def __call__(self, item: Episode | ContractCheck) -> EpisodeRow | Unloaded | Compared:
        """Run an episode, write its folder and return its row; or return what does not fit."""
        # Round everything, above all what no other limit is round: what is left of a policy, and ends late.
        whole_s = self.limits.episode_s + 4 * self.limits.load_s + 2 * self.limits.call_s
        with self._limited("the episode as a whole", whole_s):
            return self.compare(item) if isinstance(item, ContractCheck) else self.run(item)

    def compare(self, check: ContractCheck) -> Compared:
        """Return what the policy says of itself, and in which ways it and the world do not fit.

        Raises:
            UserError: The policy cannot be made, or not be shared where it should be.
        """
        world, kept = self._loaded_world(), self._loaded_policy(check.ref, alone=False)
        found = mismatches(world.contract, kept.policy.contract)
        return Compared(tuple(plain(line) for line in found), kept.identity, kept.training_seed)

    def run(self, episode: Episode) -> EpisodeRow | Unloaded:
        """Run ``episode``, write its folder and return its row, or why its policy cannot be used.

        Raises:
            UserError: The policy is another one than when the run was made, the world cannot be made or
                cannot render here, or the disk refuses.
        """
        world = self._loaded_world()
        try:
            kept = self._loaded_policy(episode.policy.ref)
        except UserError as error:
            return Unloaded(plain(str(error)))
        _refuse_another(episode, kept.identity)  # first: another policy may not fit, either
        try:
            check_contracts(world, kept.policy, episode.policy.name)
        except UserError as error:
            return Unloaded(plain(str(error)))
        row, trajectory, text = self._episode(world, kept.policy, episode)
        self._here()
        if self._opened is None:
            self._opened = RunFolder.open(self.folder)
        self._opened.write_rollout(row.id, trajectory, text)
        if row.status == "crashed":
            del kept
            self._discard(episode.policy.ref)
        return row

    def close(self) -> None:
        """Free the world."""
        if self._world is not None:
            self._world.close()
            self._world = None

    def _episode(
        self, world: World, policy: WatchedPolicy | SharedPolicy, episode: Episode
    ) -> tuple[EpisodeRow, Trajectory | None, str]:
        """Return row, states and traceback of an episode, which no exception of a policy gets out of."""
        tracebacks: list[str] = []
        self._here()
        try:
            with self._limited("the world", self.limits.episode_s):
                row, trajectory = run_episode(world, policy, episode, tracebacks.append)
        except UserError:
            raise
        except BaseException as raised:
            if not isinstance(raised, Exception) and multiprocessing.parent_process() is None:
                raise  # Ctrl-C; in a worker, which ignores it, only the policy can have raised it
            return lost_row(episode, one_line(raised)), None, safe_traceback(raised)
        return row, trajectory, "".join(tracebacks)

    def _loaded_world(self) -> World:
        if self._world is None:
            self._here()
            factory = load_plugin("heedful.worlds", self.world)
            with self._limited(f"loading world {self.world}", self.limits.load_s):
                try:
                    self._world = factory(**self.world_options)
                except TypeError as error:
                    raise UserError(
                        f"World {self.world!r} refuses world_options {dict(self.world_options)!r}: {error}."
                    ) from error
        return self._world

    def _loaded_policy(self, ref: str, alone: bool = True) -> _Kept:
        """Return the policy ``ref``, loaded here or shared; ``alone``: one that cannot be is loaded here."""
        shared = self._shared(ref, alone)
        if shared is not None:
            return shared
        if ref not in self._policies:
            self._policies[ref] = self._own(ref)
            while len(self._policies) > self.keep:
                self._end_policy(next(iter(self._policies)))
        self._policies.move_to_end(ref)
        return self._policies[ref]

    def _own(self, ref: str) -> _Kept:
        self._here()
        with self._limited(f"loading policy {ref}", self.limits.load_s):
            loaded = load_policy(ref)
        policy = WatchedPolicy(
            loaded.policy, loaded.contract, self._watch, self.limits.call_s, self._surroundings
        )
        return _Kept(policy, loaded.identity, loaded.training_seed)

    def _shared(self, ref: str, alone: bool) -> _Kept | None:
        """Return the policy ``ref`` of the process that holds it, which says every time who it is now."""
        if self._line is None or (alone and ref in self._not_shared):
            return None
        with self._limited(f"loading policy {ref}", 2 * self.limits.load_s):  # another's may be under way
            loaded = self._line.load(ref)
        if not loaded.not_shared:
            policy = SharedPolicy(ref, loaded.contract, self._line, self._watch)
            return _Kept(policy, loaded.identity, loaded.training_seed)
        if not alone:
            raise UserError(
                f"Policy {ref!r} cannot be shared: {loaded.not_shared}. Leave out --share-policy, or run "
                "this policy in a command of its own without it; the same folder takes both."
            )
        self._not_shared.add(ref)
        return None

    def _discard(self, ref: str) -> None:
        """Start afresh after a crash, so that it cannot colour the next episode."""
        self._end_policy(ref)
        self.close()

    def _end_policy(self, ref: str) -> None:
        with self._limited(f"ending policy {ref}", self.limits.call_s):
            self._policies.pop(ref, None)

    def _here(self) -> None:
        """Put back what a policy may have changed for the whole process; in a worker, which is ours."""
        if self._watch is None:
            return
        if self._surroundings is None:
            self._surroundings = Surroundings.now()
        self._surroundings.restore()

    def _limited(self, doing: str, limit_s: float) -> AbstractContextManager[None]:
        return nullcontext() if self._watch is None else self._watch.limited(doing, limit_s)


def _refuse_another(episode: Episode, identity: str) -> None:
    policy = episode.policy
    if policy.digest and policy.digest != identity:
        raise UserError(
            f"Policy {policy.name} ({policy.ref}) is another one now than when this run was made: "
            f"digest {identity or 'unknown'}, {policy.digest} in the run. Use a new run folder."
        )
