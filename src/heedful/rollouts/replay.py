"""Videos of finished rollouts, drawn from their recorded states alone: no physics, no policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.spec.contract import CameraContract
from heedful.spec.errors import UserError
from heedful.spec.plugins import load as load_plugin
from heedful.spec.progress import Progress, silent
from heedful.spec.rollout import EpisodeRow
from heedful.spec.run import RunSpec
from heedful.spec.scene import SceneSpec
from heedful.spec.seams import World
from heedful.spec.state import Trajectory
from heedful.store.run_folder import RunFolder


def replay_video(folder: RunFolder, row: EpisodeRow, camera: str = "agent", size: int = 320) -> Path:
    """Render one finished rollout as an MP4 file and return its path. See ``replay_videos``."""
    return replay_videos(folder, [row], camera, size)[0]


def replay_videos(
    folder: RunFolder,
    rows: Sequence[EpisodeRow],
    camera: str = "agent",
    size: int = 320,
    progress: Progress = silent,
) -> list[Path]:
    """Render finished rollouts as MP4 files that browsers play, and return their paths in order.

    Runs never render for nobody: videos are made afterwards, of the rollouts that somebody
    wants to see. A video that is there already is kept.

    Args:
        folder: The run.
        rows: Finished episodes of it.
        camera: A camera of the run's world.
        size: Height and width in px.
        progress: Told after every video.

    Raises:
        UserError: A crashed row, an unknown camera, a damaged trajectory, or no way to render
            here.
    """
    found = []
    with shown(folder.spec) as world:
        for i, row in enumerate(rows):
            path = folder.video_path(row.id, camera)
            if not path.exists():
                if row.status != "finished":
                    raise UserError(f"Episode {row.id} crashed: there are no states to replay.")
                trajectory = folder.trajectory(row.id)
                images = draw(world, row.case.scene, trajectory, (CameraContract(camera, size, size),))
                folder.write_video(row.id, camera, images[camera], world.contract.control_hz)
            found.append(path)
            progress("videos", i + 1, len(rows))
    return found


def draw(
    world: World, scene: SceneSpec, trajectory: Trajectory, cameras: Sequence[CameraContract]
) -> dict[str, NDArray[np.uint8]]:
    """Return what ``cameras`` see at every row of ``trajectory``: name -> [T, H, W, 3]."""
    images: dict[str, list[NDArray[np.uint8]]] = {camera.name: [] for camera in cameras}
    for t in range(len(trajectory)):
        world.show(scene, trajectory.at(t))
        seen = world.observe(cameras)
        for name, shots in images.items():
            shots.append(seen.images_hwc_u8[name])
    return {name: np.stack(shots) for name, shots in images.items()}


@contextmanager
def shown(spec: RunSpec) -> Iterator[World]:
    """Give the world of a run, to draw recorded states with.

    Raises:
        UserError: An unknown world, options that it does not know, or a plug-in that lacks ``show``.
    """
    world: World = load_plugin("heedful.worlds", spec.world)(**spec.world_options)
    try:
        if not hasattr(world, "show"):  # a plug-in of before worlds had to
            raise UserError(
                f"World {spec.world!r} cannot show recorded states, so there are no images of it."
            )
        yield world
    finally:
        world.close()
