"""A worker's side of a run: world and policies stay loaded from episode to episode."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heedful.policies.references import load as load_policy
from heedful.rollouts.loop import run_episode
from heedful.spec.case import Episode
from heedful.spec.plugins import load as load_plugin
from heedful.spec.rollout import EpisodeRow
from heedful.spec.seams import Policy, World
from heedful.store.run_folder import RunFolder


@dataclass
class EpisodeRunner:
    """Runs episodes and writes their rollout folders; returns rows, which only the driver appends.

    Attributes:
        folder: The run folder.
        world: Name of the world.
        world_options: Options of the world.
        keep: Policies kept loaded at a time, the least recently used leaves first.
    """

    folder: str
    world: str
    world_options: Mapping[str, Any]
    keep: int = 2
    _opened: RunFolder | None = field(default=None, repr=False)
    _world: World | None = field(default=None, repr=False)
    _policies: OrderedDict[str, Policy] = field(default_factory=OrderedDict, repr=False)

    def __call__(self, episode: Episode) -> EpisodeRow:
        """Run ``episode``, write its folder and return its row."""
        tracebacks: list[str] = []
        row, trajectory = run_episode(
            self._loaded_world(), self._loaded_policy(episode.policy.ref), episode, tracebacks.append
        )
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
            self._world = load_plugin("heedful.worlds", self.world)(**self.world_options)
        return self._world

    def _loaded_policy(self, ref: str) -> Policy:
        if ref not in self._policies:
            self._policies[ref] = load_policy(ref)
            while len(self._policies) > self.keep:
                self._policies.popitem(last=False)
        self._policies.move_to_end(ref)
        return self._policies[ref]

    def _discard(self, ref: str) -> None:
        """Start afresh after a crash, so that it cannot colour the next episode."""
        self._policies.pop(ref, None)
        self.close()
