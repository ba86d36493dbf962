"""Datasets written by others, in every shape that LeRobot v3.0 allows, and the labels of their episodes."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heedful.spec.errors import UserError
from heedful.store.datasets import check_dataset
from heedful.store.datasets.labels import EPISODES, FRAMES, NOTES, read_labels, tasks_of, usable
from heedful.store.datasets.meta import read_meta

LENGTHS = (3, 2, 4, 2)
TASKS = (["push"], ["lift"], ["push"], ["push", "lift"])
PICTURE = {"bytes": None, "path": "elsewhere.png"}


def foreign(root: Path, **columns: list[Any]) -> Path:
    """Write a dataset of four episodes: two data files, two episode files, no statistics at all."""
    columns = columns or {"scene": [7, 7, 8, 8], "name": ["left", "left", "right", "right"]}
    features = {
        "observation.image": {"dtype": "image", "shape": [3, 8, 6], "names": ["channels", "height", "width"]},
        "observation.state": {"dtype": "float64", "shape": [2], "names": None},
        "language_events": {"dtype": "language", "shape": [1], "names": None},
        **{name: {"dtype": "int64", "shape": [1], "names": None} for name in ("task_index", "episode_index")},
    }
    info = {"codebase_version": "v3.0", "fps": 5, "robot_type": None, "features": features}
    info |= {"total_episodes": 4, "total_frames": sum(LENGTHS), "total_tasks": 2, "video_path": None}
    info["data_path"] = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
    rows = []
    for file, episodes in ((0, (0, 1)), (1, (2, 3))):
        frames: list[dict[str, Any]] = []
        for e in episodes:
            start = sum(LENGTHS[:e])
            tasks = [("push", "lift").index(task) for task in TASKS[e]]
            for t in range(LENGTHS[e]):
                frame = {"episode_index": e, "frame_index": t, "index": start + t, "timestamp": t / 5}
                frame |= {"task_index": tasks[min(t, len(tasks) - 1)], "observation.state": [t, e]}
                frame |= {"observation.image": PICTURE, "language_events": []}
                for name, values in columns.items():
                    frame[name] = values[e][t] if isinstance(values[e], list) else values[e]
                frames.append(frame)
            row = {"episode_index": e, "tasks": TASKS[e], "length": LENGTHS[e], "operator": "ab"[e % 2]}
            row |= {"dataset_from_index": start, "dataset_to_index": start + LENGTHS[e]}
            rows.append({**row, "data/chunk_index": 0, "data/file_index": file})
        _write(root / f"data/chunk-000/file-{file:03d}.parquet", frames)
    _write(root / "meta/episodes/chunk-000/file-000.parquet", rows[:3])
    _write(root / "meta/episodes/chunk-000/file-001.parquet", rows[3:])
    _write(
        root / "meta/tasks.parquet",
        [{"task_index": i, "__index_level_0__": t} for i, t in enumerate(("push", "lift"))],
    )
    (root / "meta/info.json").write_text(json.dumps(info))
    return root


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def test_meta_files_of_others_are_read(tmp_path: Path) -> None:
    meta = read_meta(foreign(tmp_path))
    assert dict(meta.tasks) == {"push": 0, "lift": 1}
    assert [episode["length"] for episode in meta.episodes] == list(LENGTHS)
    assert meta.cameras == {"observation.image": (8, 6)} and meta.stats == {}
    assert [path.name for path in meta.data_files] == ["file-000.parquet", "file-001.parquet"]


@pytest.mark.parametrize(
    ("name", "where", "values"),
    [
        ("scene", FRAMES, ("7", "7", "8", "8")),
        ("name", FRAMES, ("left", "left", "right", "right")),
        ("operator", EPISODES, ("a", "b", "a", "b")),
        ("length", EPISODES, ("3", "2", "4", "2")),
        ("episode_index", FRAMES, ("0", "1", "2", "3")),
    ],
)
def test_a_label_is_found_where_it_is(tmp_path: Path, name: str, where: str, values: tuple[str, ...]) -> None:
    found = read_labels(read_meta(foreign(tmp_path)), name)
    assert (found.where, found.values) == (where, values)


def test_labels_may_be_fractions_truths_and_short_lists(tmp_path: Path) -> None:
    root = foreign(
        tmp_path,
        height=[0.5, 0.1, 0.5, 1.0],
        on=[True, False, True, True],
        one=[[[1]] * 4] * 4,
        pose=[[[1, 2]] * 4] * 4,
    )
    meta = read_meta(root)
    assert read_labels(meta, "height").values == ("0.5", "0.1", "0.5", "1.0")
    assert read_labels(meta, "on").values == ("True", "False", "True", "True")
    assert read_labels(meta, "one").values == ("1",) * 4
    assert read_labels(meta, "pose").values == ("[1, 2]",) * 4


def test_what_would_do_is_listed(tmp_path: Path) -> None:
    root = foreign(tmp_path, scene=[1, 1, 2, 2], same=[0] * 4, own=[1, 2, 3, 4], t=[[1, 2, 3, 4]] * 4)
    (root / "meta/heedful.json").write_text(
        json.dumps({"episodes": [{"id": str(i), "source": {"arm": "ab"[i // 2]}} for i in range(4)]})
    )
    meta = read_meta(root)
    # Not those that change in an episode, are the same everywhere, or occur once each.
    assert usable(meta) == {FRAMES: ["scene"], EPISODES: ["operator"], NOTES: ["arm"]}
    assert read_labels(meta, "arm").values == ("a", "a", "b", "b")
    with pytest.raises(UserError, match="Did you mean 'scene'. Valid: arm, operator, scene"):
        read_labels(meta, "scnee")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("late", "'late' changes inside episode 2 of .*: 5 in frame 0, 6 in frame 3"),
        ("gone", "gone is empty or NaN somewhere"),
        ("task_index", "'task_index' is the task itself"),
        ("tasks", "'tasks' is the task itself"),
        ("observation.image", "Unknown label"),
    ],
)
def test_what_is_no_label_is_refused(tmp_path: Path, name: str, said: str) -> None:
    root = foreign(tmp_path, late=[5, 5, [5, 5, 5, 6], 5], gone=[1, 1, None, 1])
    with pytest.raises(UserError, match=said):
        read_labels(read_meta(root), name)


def test_without_the_frames_the_labels_of_the_episodes_are_read(tmp_path: Path) -> None:
    root = foreign(tmp_path)
    shutil.rmtree(root / "data")
    meta = read_meta(root)
    assert usable(meta) == {EPISODES: ["operator"]}
    assert read_labels(meta, "operator").values == ("a", "b", "a", "b")
    with pytest.raises(UserError, match=r"file-000\.parquet is missing"):
        read_labels(meta, "episode_index")


def test_notes_of_other_episodes_are_not_used(tmp_path: Path) -> None:
    root = foreign(tmp_path)
    (root / "meta/heedful.json").write_text(json.dumps({"episodes": [{"id": "a", "source": {"arm": "x"}}]}))
    with pytest.raises(UserError, match="Unknown label"):
        read_labels(read_meta(root), "arm")


def test_several_tasks_of_an_episode_are_one_of_their_own_in_any_order() -> None:
    given = [["push", "lift"], ["lift", "push"], ["push"], ["push", "push"]]
    assert tasks_of([{"tasks": tasks} for tasks in given]) == ["lift + push", "lift + push", "push", "push"]
    with pytest.raises(UserError, match="Episode 4 has no task"):
        tasks_of([{"tasks": [], "episode_index": 4}])


def test_a_task_that_is_worded_like_a_combination_is_another_task() -> None:
    given = [["a + b"], ["a", "b"], ["a + b", "c"], ["a", "b + c"], ["a", "b", "c"], ["b", "a"]]
    found = tasks_of([{"tasks": tasks} for tasks in given])
    assert found[:2] == ["a + b", "a + b (several tasks)"]
    assert len(set(found)) == 5 and found[1] == found[5]


@pytest.mark.parametrize(
    "values", [[1.0, float("nan"), 1.0, 2.0], [[[0.5]] * 3, [[float("nan")]] * 2, 1.0, 1.0]]
)
def test_a_label_that_is_no_number_is_refused_as_if_it_were_empty(tmp_path: Path, values: list[Any]) -> None:
    if isinstance(values[0], list):
        values = [value if isinstance(value, list) else [[value]] * 4 for value in values]
    with pytest.raises(UserError, match="height is empty or NaN somewhere"):
        read_labels(read_meta(foreign(tmp_path, height=values)), "height")


def test_notes_that_are_no_number_are_refused_too(tmp_path: Path) -> None:
    root = foreign(tmp_path)
    notes = [
        {"id": str(i), "source": {"scene_height": value}} for i, value in enumerate([1, float("nan"), 1, 1])
    ]
    (root / "meta/heedful.json").write_text(json.dumps({"episodes": notes}))
    with pytest.raises(UserError, match="episode 1 has no 'scene_height'"):
        read_labels(read_meta(root), "scene_height")


def test_the_task_is_refused_under_any_name(tmp_path: Path) -> None:
    root = foreign(tmp_path, instruction=["push", "lift", "push", "lift + push"], scene=[1, 1, 2, 2])
    meta = read_meta(root)
    assert usable(meta) == {FRAMES: ["scene"], EPISODES: ["operator"]}
    with pytest.raises(UserError, match="'instruction' is the task itself"):
        read_labels(meta, "instruction")


def test_notes_that_come_from_the_instruction_are_not_offered(tmp_path: Path) -> None:
    root = foreign(tmp_path)
    source = {
        "target": "cube",
        "verb": "lift",
        "color": "red",
        "scene": "cubes",
        "arm": "conflict",
        "case": "a",
    }
    notes = [{"id": str(i), "source": {k: v + "xy"[i // 2] for k, v in source.items()}} for i in range(4)]
    (root / "meta/heedful.json").write_text(json.dumps({"episodes": notes}))
    meta = read_meta(root)
    assert usable(meta)[NOTES] == ["scene", "arm", "case"]
    assert read_labels(meta, "color").values == ("redx", "redx", "redy", "redy")  # who asks for it gets it


def test_times_may_be_labels_whatever_their_unit(tmp_path: Path) -> None:
    root = foreign(tmp_path)
    for file in sorted((root / "data").rglob("*.parquet")):
        table = pq.read_table(file)
        days = pa.array([1_000_000_007] * table.num_rows, pa.int64()).cast(pa.timestamp("ns"))
        pq.write_table(table.append_column("day", days), file)
    assert read_labels(read_meta(root), "day").values == ("1970-01-01 00:00:01.000000007",) * 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[:-1], r"has 3 frames of episode 2; meta/episodes says 4"),
        (lambda rows: [r for r in rows if r["episode_index"] != 2], r"has 0 frames of episode 2"),
        (lambda rows: [*rows, {**rows[0], "episode_index": 9}], r"has frames of episode 9, which"),
    ],
)
def test_an_episode_has_as_many_frames_as_its_length(tmp_path: Path, change: Any, said: str) -> None:
    root = foreign(tmp_path)
    file = root / "data/chunk-000/file-001.parquet"
    rows = sorted(pq.read_table(file).to_pylist(), key=lambda row: -row["episode_index"])
    _write(file, change(rows))
    with pytest.raises(UserError, match=said):
        read_labels(read_meta(root), "scene")


def test_a_dataset_of_others_is_checked_too_and_what_is_wrong_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"observation\.image of frame 0 is missing"):
        check_dataset(foreign(tmp_path))  # its images are elsewhere; the numbers passed
    info = json.loads((tmp_path / "meta/info.json").read_text())
    del info["features"]["observation.image"]
    (tmp_path / "meta/info.json").write_text(json.dumps(info))
    summary = check_dataset(tmp_path)
    assert (summary.episodes, summary.frames, summary.attempts) == (4, 11, None)
    assert summary.tasks == {"push": 2, "lift": 1, "lift + push": 1}
    file = tmp_path / "data/chunk-000/file-001.parquet"
    rows = pq.read_table(file).to_pylist()
    rows[-1]["task_index"] = 5
    _write(file, rows)
    with pytest.raises(UserError, match=r"task_index 5 occurs in episode 3, whose tasks have \[0, 1\]"):
        check_dataset(tmp_path)
