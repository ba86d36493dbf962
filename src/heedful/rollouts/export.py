"""Finished rollouts drawn in worker processes and put together as a LeRobot dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from heedful.rollouts.pool import Lost, Pool
from heedful.rollouts.replay import draw, shown
from heedful.rollouts.watch import Watch
from heedful.spec.codec import digest
from heedful.spec.contract import CameraContract
from heedful.spec.errors import UserError
from heedful.spec.progress import Progress, silent
from heedful.spec.rollout import EpisodeRow
from heedful.spec.scene import SceneSpec
from heedful.spec.seams import World
from heedful.spec.state import Trajectory
from heedful.store.datasets import EpisodeFrames, Staging
from heedful.store.datasets.collection import Collection
from heedful.store.datasets.layout import Images
from heedful.store.run_folder import RunFolder

TIME_LIMIT_S = 600.0
"""A worker busy with one rollout for longer is killed, and its rollout tried once more."""


@dataclass(frozen=True)
class Wanted:
    """One rollout to export.

    Attributes:
        row: Its row; finished, with at least one step.
        score: What a judge gave it, 0 to 1; ``None`` where rewards are left out of the dataset.
        success: Whether the judge said that it did what it was told.
        notes: Plain facts to keep beside the dataset.
    """

    row: EpisodeRow
    score: float | None
    success: bool
    notes: Mapping[str, Any]


def export(
    folder: RunFolder,
    wanted: Sequence[Wanted],
    out: Path,
    image_size: int = 256,
    images: Images = "video",
    workers: int = 2,
    progress: Progress = silent,
) -> None:
    """Make a LeRobot dataset of rollouts at ``out``; the episodes keep the order of ``wanted``.

    Frame t is what was seen before action t; what followed the last action is no frame. Images
    are drawn from the recorded states. A kill loses only the rollouts being drawn: the same
    call goes on, and a finished dataset is left as it is. The dataset does not depend on
    ``workers``.

    Args:
        folder: The run.
        wanted: Which rollouts; either all of them have a score or none has.
        out: Folder of the dataset.
        image_size: Height and width of every camera's images in px.
        images: How images are kept.
        workers: Worker processes, one thread each.
        progress: Told after every rollout.

    Raises:
        UserError: ``out`` holds something else, a rollout is damaged, the world cannot show
            recorded states or cannot be rendered here, or the disk refuses.
    """
    with shown(folder.spec):
        pass  # a world that cannot is refused before there is a folder that remembers this request
    request = {
        "suite": folder.spec.suite,
        "world": folder.spec.world,
        "world_options": dict(folder.spec.world_options),
        "image_size": image_size,
        "images": images,
        "scored": all(one.score is not None for one in wanted),
        "rollouts": {"count": len(wanted), "digest": digest([_content(one) for one in wanted])},
    }
    with Collection.open(out, request, [one.row.id for one in wanted]) as collection:
        if collection.complete:
            return
        left = [one for one in wanted if collection.staging.state(one.row.id) is None]
        done = len(wanted) - len(left)
        progress("export", done, len(wanted))
        exporter = Exporter(str(folder.path), str(out), image_size, images)
        with closing(Pool(workers).unordered(exporter, left)) as results:
            for result in results:
                if isinstance(result, Lost):
                    raise UserError(f"Drawing rollout {left[result.index].row.id}: {result.reason}.")
                done += 1
                progress("export", done, len(wanted))
        collection.finish()


def _content(one: Wanted) -> list[Any]:
    row = one.row
    return [row.id, row.instruction_received, row.steps, one.score, one.success, dict(one.notes)]


@dataclass
class Exporter:
    """A worker's side of ``export``: draws a rollout and stages it."""

    run: str
    out: str
    image_size: int
    images: Images
    _open: ExitStack = field(default_factory=ExitStack, repr=False)
    _folder: RunFolder | None = field(default=None, repr=False)
    _world: World | None = field(default=None, repr=False)
    _watch: Watch | None = field(default=None, repr=False)

    def watched_by(self, watch: Watch) -> None:
        """Let a driver know through ``watch`` how long a rollout may take."""
        self._watch = watch

    def __call__(self, one: Wanted) -> None:
        """Stage ``one``."""
        if self._folder is None or self._world is None:
            self._folder = RunFolder.open(self.run)
            self._world = self._open.enter_context(shown(self._folder.spec))
        with self._limited("drawing"):
            trajectory = self._folder.trajectory(one.row.id)
            frames = recorded(self._world, one, trajectory, self.image_size, self.images)
            Staging(Path(self.out)).add(one.row.id, frames)

    def close(self) -> None:
        """Free the world."""
        self._open.close()

    def _limited(self, doing: str) -> AbstractContextManager[None]:
        return nullcontext() if self._watch is None else self._watch.limited(doing, TIME_LIMIT_S)


def recorded(
    world: World, one: Wanted, trajectory: Trajectory, image_size: int, images: Images
) -> EpisodeFrames:
    """Return a rollout as the frames of a dataset: what was seen before each action, and the action.

    Args:
        world: Draws every camera it has, and says what the robot feels in a recorded state.
        one: Which rollout.
        trajectory: [T + 1] states of it, one robot.
        image_size: Height and width of the images in px.
        images: How they are to be kept.

    Raises:
        UserError: There is more than one robot, or the trajectory is not as long as the row says.
    """
    row, length = one.row, len(trajectory) - 1
    if trajectory.command.shape[1] != 1:
        robots = trajectory.command.shape[1]
        raise UserError(f"Rollout {row.id} has {robots} robots; only rollouts of one can be exported.")
    if length != row.steps:
        raise UserError(
            f"Rollout {row.id} has {row.steps} steps by its line in episodes.jsonl, but its trajectory has "
            f"{length}. Delete its folder in rollouts/; the same `heedful run` command then runs it again."
        )
    before = Trajectory.stack([trajectory.at(t) for t in range(length)])
    cameras = [CameraContract(name, image_size, image_size) for name in world.contract.cameras]
    last = np.arange(length) == length - 1
    numbers = {**_felt(world, row.case.scene, before), "actions": trajectory.command[1:, 0], "done": last}
    if one.score is not None:
        numbers |= {"reward": last * one.score, "success": last & one.success}
    return EpisodeFrames(
        kind="rollout" if one.score is None else "scored_rollout",
        task=row.instruction_received,
        numbers=numbers,
        images_hwc_u8=draw(world, row.case.scene, before, cameras),
        fps=world.contract.control_hz,
        images=images,
        source=one.notes,
    )


def _felt(world: World, scene: SceneSpec, trajectory: Trajectory) -> dict[str, Any]:
    """Return joints and tool pose of every state, as a policy would have been told them."""
    felt = []
    for t in range(len(trajectory)):
        world.show(scene, trajectory.at(t))
        felt.append(world.observe(()))
    return {
        "joint_state": np.stack([seen.joint_state[0] for seen in felt]),
        "ee_state": np.stack([seen.proprioception[0] for seen in felt]),
    }
