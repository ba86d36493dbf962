from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from heedful.report.build import build, load
from heedful.report.material import Material, Video
from heedful.spec.errors import UserError
from heedful.store.run_folder import RunFolder


@pytest.fixture
def video(tmp_path: Path) -> Path:
    path = tmp_path / "source.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=20)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        for level in (20, 230):
            image = np.full((64, 64, 3), level, dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image)))
        container.mux(stream.encode())
    return path


def material(run: Any, *videos: Video) -> Material:
    return Material("run", run.metrics, spec=run.spec, rows=run.rows, videos=tuple(videos))


def test_the_folder_holds_all_it_shows(single: Any, video: Path, tmp_path: Path) -> None:
    told = Video("color,object", "overfit_2", video, 'lift the "red" <sphere>', "red+sphere", "It took it.")
    page = build(material(single, told), tmp_path / "report")
    video.unlink()
    assert page == tmp_path / "report" / "index.html"
    text = page.read_text(encoding="utf-8")
    assert (page.parent / "videos" / "00-color-object-overfit-2.mp4").stat().st_size > 0
    assert 'src="videos/00-color-object-overfit-2.mp4"' in text
    assert "followed object" in text
    assert "lift the &#34;red&#34; &lt;sphere&gt;" in text
    with av.open(str(page.parent / "videos" / "00-color-object-overfit-2.jpg")) as poster:
        last = next(poster.decode(video=0)).to_ndarray(format="gray")
    assert last.mean() > 200  # the last frame, where the outcome shows


def test_figures_are_files_of_their_own(complete: Any, tmp_path: Path) -> None:
    page = build(material(complete), tmp_path / "report")
    names = {path.stem for path in (page.parent / "figures").glob("*.svg")}
    assert {"p0-fdr", "p0-hierarchy", "p0-matrix", "p0-cells-color-object"} <= names
    for path in (page.parent / "figures").glob("*.svg"):
        ET.parse(path)


def test_a_report_is_replaced_as_a_whole(single: Any, tmp_path: Path) -> None:
    page = build(material(single), tmp_path / "report")
    (page.parent / "old.txt").write_text("left over")
    build(material(single), tmp_path / "report")
    assert not (page.parent / "old.txt").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["report"]


def test_other_folders_are_not_replaced(single: Any, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UserError, match="no report of heedful"):
        build(material(single), tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_a_missing_or_damaged_video_leaves_the_old_report(single: Any, tmp_path: Path) -> None:
    page = build(material(single), tmp_path / "report")
    before = page.read_bytes()
    damaged = tmp_path / "damaged.mp4"
    for content, said in ((None, "does not exist"), (b"no video", "damaged")):
        if content is not None:
            damaged.write_bytes(content)
        with pytest.raises(UserError, match=said):
            build(material(single, Video("color,object", "neither", damaged, "lift")), tmp_path / "report")
        assert page.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["damaged.mp4", "report"]


def test_load_reads_a_run_folder(single: Any, tmp_path: Path) -> None:
    path = tmp_path / "co"
    crashed = [row for row in single.rows if row.status == "crashed"]
    with RunFolder.open(path, single.spec) as folder:
        for row in crashed:
            folder.write_rollout(row.id, None, row.error)
            folder.append(row)
        with pytest.raises(UserError, match="heedful judge"):
            load(folder)
        folder.write_metrics(single.metrics)
        found = load(folder, made_at="today")
        page = build(found, folder.report_path.parent)
    assert found.name == "co"
    assert len(found.rows) == len(crashed)
    assert page == folder.report_path.resolve()
    text = page.read_text(encoding="utf-8")
    assert "sessions: python" in text
    assert "today" in text
