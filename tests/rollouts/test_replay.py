import numpy as np
import pytest
from rollout_doubles import DoubleWorld, cases, spec

from heedful.rollouts.plan import plan
from heedful.rollouts.replay import draw, replay_video, replay_videos
from heedful.rollouts.run import run
from heedful.spec.contract import CameraContract
from heedful.spec.errors import UserError
from heedful.store.run_folder import RunFolder
from heedful.store.video import decode_mp4, measure_mp4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    path = tmp_path_factory.mktemp("run")
    with RunFolder.open(path, spec("", "nan")) as opened:
        run(opened, plan(opened.spec, cases(1)), workers=1)
    return RunFolder.open(path)


def test_a_finished_rollout_becomes_a_video_once(folder: RunFolder) -> None:
    row = next(row for row in folder.rows() if row.status == "finished")
    told: list[tuple[int, int]] = []
    progress = lambda stage, done, total, note="": told.append((done, total))  # noqa: E731
    (path,) = replay_videos(folder, [row], size=64, progress=progress)
    assert path == folder.video_path(row.id, "agent") and told == [(1, 1)]
    assert measure_mp4(path) == (13, 64, 64, 20.0)
    heights = folder.trajectory(row.id).ee_position_m[:, 0, 2]
    shown = [frame[..., 1].mean() for frame in decode_mp4(path)]
    assert np.allclose(shown, np.clip(heights * 500, 0, 255), atol=8)  # the double paints the tool's height
    before = path.stat().st_mtime_ns
    assert replay_video(folder, row) == path and path.stat().st_mtime_ns == before


def test_a_crashed_rollout_has_no_video(folder: RunFolder) -> None:
    crashed = next(row for row in folder.rows() if row.status == "crashed")
    with pytest.raises(UserError, match="crashed: there are no states to replay"):
        replay_video(folder, crashed)


def test_every_camera_is_drawn_at_every_state(folder: RunFolder) -> None:
    row = next(row for row in folder.rows() if row.status == "finished")
    cameras = (CameraContract("agent", 8, 10), CameraContract("wrist", 6, 6))
    images = draw(DoubleWorld(), row.case.scene, folder.trajectory(row.id), cameras)
    assert images["agent"].shape == (13, 8, 10, 3) and images["wrist"].shape == (13, 6, 6, 3)
