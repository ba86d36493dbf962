"""Whatever is wrong with the files of a dataset, it is one line that names the file."""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from heedful.spec.errors import UserError
from heedful.store.datasets import check_dataset, load_demonstrations, write_dataset
from heedful.store.datasets.meta import read_meta
from heedful.workflows.scene_entropy import scene_entropies

DATA = "data/chunk-000/file-000.parquet"
EPISODES = "meta/episodes/chunk-000/file-000.parquet"
JSON_FILES = ("meta/info.json", "meta/stats.json", "meta/heedful.json")


@pytest.fixture(scope="module")
def whole(made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset in two pairs of scenes, without checksums, so that no damage is found by them alone."""
    root = tmp_path_factory.mktemp("whole") / "d"
    given = [made.demonstration(i, 8, 16, source={"scene": f"s{i // 2}"}) for i in range(4)]
    write_dataset(root, given)
    change_json(root / "meta/heedful.json", lambda notes: notes.pop("sha256"))
    for file, columns in ((EPISODES, {"kitchen": 4}), (DATA, {"desk": 32})):
        table = pq.read_table(root / file)
        for name, count in columns.items():
            table = table.append_column(name, pa.array([i // (count // 2) for i in range(count)]))
        pq.write_table(table, root / file)
    return root


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "copy")


def change_json(path: Path, change: Callable[[Any], Any]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def change_column(path: Path, name: str, change: Callable[[pa.ChunkedArray], Any]) -> None:
    """Replace a column, or leave it out where ``change`` returns nothing."""
    table = pq.read_table(path)
    column = change(table[name])
    at = table.column_names.index(name)
    pq.write_table(table.remove_column(at) if column is None else table.set_column(at, name, column), path)


def everywhere(root: Path) -> list[str]:
    """Return what each reader says of the dataset; anything but a UserError is a fault of ours."""
    said = []
    for read in (
        read_meta,
        check_dataset,
        *(lambda root, label=label: scene_entropies([root], label) for label in ("scene", "kitchen", "desk")),
    ):
        try:
            read(root)
        except UserError as error:
            said.append(str(error))
            assert "\n" not in str(error)
    return said


def test_the_whole_dataset_is_read_everywhere(whole: Path) -> None:
    assert everywhere(whole) == []


ACTION = "action"
INFO: list[tuple[str, Any]] = [
    ("features", ...),
    ("features", None),
    ("features", []),
    ("features/action", None),
    ("features/action", []),
    ("features/action/dtype", ...),
    ("features/action/dtype", 7),
    ("features/action/shape", ...),
    ("features/action/shape", 3),
    ("features/action/shape", [-1]),
    ("features/action/shape", ["8"]),
    ("features/observation.images.agent/shape", [16]),
    ("features/observation.images.agent/names", ["width", "height"]),
    ("data_path", ...),
    ("data_path", "{nope}"),
    ("data_path", "data/{chunk_index"),
    ("data_path", "data/{chunk_index.real}"),
    ("data_path", "data/{chunk_index!r}"),
    ("data_path", "data/{}"),
    ("data_path", "/{chunk_index:03d}"),
    ("data_path", "../{chunk_index:03d}"),
    ("data_path", "{file_index:9999999d}"),
    ("data_path", 7),
    ("video_path", None),
    ("video_path", "{video_key:d}"),
    ("fps", "ten"),
    ("fps", 0),
    ("fps", -20),
    ("fps", None),
    ("fps", True),
    ("fps", 10**400),
    ("fps", float("nan")),
    ("total_frames", "many"),
    ("total_tasks", ...),
]


@pytest.mark.parametrize(("place", "value"), INFO)
def test_damaged_info_is_refused_by_every_reader(copy: Path, place: str, value: Any) -> None:
    def change(info: Any) -> None:
        *above, last = place.split("/")
        for name in above:
            info = info[name]
        if value is ...:
            del info[last]
        else:
            info[last] = value

    change_json(copy / "meta/info.json", change)
    said = everywhere(copy)
    assert len(said) == 5 and all("meta/info.json" in line for line in said)


NOTES = [
    {"episodes": 3},
    {"episodes": [3] * 4},
    {"episodes": [{"source": []}] * 4},
    {"episodes": [{"attempts": "two"}] * 4},
    {"failed": {"a": 1}},
    {"sha256": []},
    {"sha256": {"../../elsewhere": "0"}},
]


@pytest.mark.parametrize("notes", NOTES)
def test_damaged_notes_are_refused_by_every_reader(copy: Path, notes: Any) -> None:
    (copy / "meta/heedful.json").write_text(json.dumps(notes))
    said = everywhere(copy)
    assert len(said) == 5 and all("meta/heedful.json" in line for line in said)


@pytest.mark.parametrize(
    "stats", [{"action": {"min": "a"}}, {"action": 3}, {"action": {"min": [[1], [2, 3]]}}, {"action": None}]
)
def test_damaged_statistics_are_found_by_a_check(copy: Path, stats: Any) -> None:
    change_json(copy / "meta/stats.json", lambda kept: kept.update(stats))
    with pytest.raises(UserError, match=r"meta/stats\.json: .*action"):
        check_dataset(copy)


def texts(column: pa.ChunkedArray) -> pa.Array:
    return pa.array(["a"] * len(column))


def nulls(column: pa.ChunkedArray) -> pa.Array:
    return pa.array([None] * len(column), column.type)


EPISODE_COLUMNS: list[tuple[str, Callable[[pa.ChunkedArray], Any]]] = [
    ("data/chunk_index", lambda column: None),
    ("data/chunk_index", nulls),
    ("data/file_index", texts),
    ("episode_index", texts),
    ("episode_index", lambda column: None),
    ("episode_index", lambda column: pa.array([0, 1, 1, 2])),
    ("episode_index", lambda column: pa.array([1, 2, 3, 4])),
    ("length", lambda column: pa.array([8, 0, 8, 8])),
    ("length", lambda column: pa.array([8.5] * 4)),
    ("length", lambda column: pa.array([8, 7, 8, 8])),
    ("dataset_to_index", lambda column: pa.array([8, 15, 24, 32])),
    ("dataset_from_index", nulls),
    ("tasks", lambda column: pa.array([[1], [2], [1], [2]])),
    ("tasks", lambda column: pa.array([[], ["a"], ["b"], ["c"]])),
    ("tasks", nulls),
    ("videos/observation.images.agent/file_index", lambda column: None),
    (
        "videos/observation.images.agent/from_timestamp",
        lambda column: pa.array([0.0, float("nan"), 0.8, 1.2]),
    ),
]


@pytest.mark.parametrize(("name", "change"), EPISODE_COLUMNS)
def test_damaged_episodes_are_refused_by_every_reader(
    copy: Path, name: str, change: Callable[[pa.ChunkedArray], Any]
) -> None:
    change_column(copy / EPISODES, name, change)
    said = everywhere(copy)
    assert len(said) == 5 and all("meta/episodes" in line and name in line for line in said)


def test_a_column_of_episodes_with_nanoseconds_does_no_harm(copy: Path) -> None:
    change_column(copy / EPISODES, "kitchen", lambda column: column.cast(pa.timestamp("ns")))
    assert everywhere(copy) == []


@pytest.mark.parametrize("name", ["task", "task_index"])
def test_tasks_of_another_kind_are_refused(copy: Path, name: str) -> None:
    change_column(
        copy / "meta/tasks.parquet", name, (lambda c: pa.array([5, 6])) if name == "task" else texts
    )
    said = everywhere(copy)
    assert len(said) == 5 and all("meta/tasks.parquet" in line for line in said)


FRAME_COLUMNS: list[tuple[str, Callable[[pa.ChunkedArray], Any], int]] = [
    ("episode_index", texts, 2),
    ("episode_index", lambda column: None, 2),
    ("episode_index", nulls, 2),
    ("desk", nulls, 1),
    ("desk", lambda column: pa.array([{"a": 1}] * 32), 1),
    ("desk", lambda column: None, 1),
    ("action", texts, 1),
    ("action", nulls, 1),
    ("action", lambda column: pa.array([[0.0] * (7 + 2 * (i % 2)) for i in range(32)]), 1),
    ("task_index", lambda column: None, 1),
]


@pytest.mark.parametrize(("name", "change", "readers"), FRAME_COLUMNS)
def test_damaged_frames_are_refused_by_those_who_read_them(
    copy: Path, name: str, change: Callable[[pa.ChunkedArray], Any], readers: int
) -> None:
    change_column(copy / DATA, name, change)
    said = everywhere(copy)
    assert len(said) == readers and all(name in line for line in said)


@pytest.mark.parametrize("file", JSON_FILES)
@given(data=st.data())
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
def test_no_change_of_a_meta_file_is_a_traceback(
    whole: Path, copy: Path, file: str, data: st.DataObject
) -> None:
    content = json.loads((whole / file).read_text())
    at: Any = content
    while True:  # down to some value, which becomes another or goes
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        below = at[key]
        if not isinstance(below, dict | list) or not below or data.draw(st.booleans()):
            break
        at = below
    odd = st.sampled_from(
        [None, True, -1, 0, 0.5, 10**30, float("nan"), "", "a", "{", [], [None], {}, {"a": 1}]
    )
    if data.draw(st.booleans()):
        at[key] = data.draw(odd)
    else:
        del at[key]
    (copy / file).write_text(json.dumps(content))
    everywhere(copy)
    shutil.copyfile(whole / file, copy / file)


@pytest.mark.parametrize("name", ["index", "action", "annotation.phase"])
@pytest.mark.parametrize("change", [texts, nulls, lambda column: None])
def test_damaged_demonstrations_are_no_traceback_in_training(
    copy: Path, name: str, change: Callable[[pa.ChunkedArray], Any]
) -> None:
    assert len(list(load_demonstrations(copy, cameras=()))) == 4
    change_column(copy / DATA, name, change)
    with pytest.raises(UserError, match=r"file-000\.parquet"):
        list(load_demonstrations(copy, cameras=()))


def test_damaged_frames_of_a_video_are_found_where_no_checksum_proves_it(copy: Path) -> None:
    path = copy / "videos/observation.images.agent/chunk-000/file-000.mp4"
    content = bytearray(path.read_bytes())
    middle = (content.index(b"mdat") + content.index(b"moov")) // 2
    content[middle - 200 : middle + 200] = bytes(byte ^ 0x55 for byte in content[middle - 200 : middle + 200])
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"file-000\.mp4 is damaged"):
        check_dataset(copy)


def as_pictures(root: Path, damage: Callable[[bytes], Any]) -> None:
    """Turn the videos of ``root`` into one PNG column, its tenth picture damaged."""
    buffer = io.BytesIO()
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 255, (16, 16, 3), dtype=np.uint8)).save(buffer, "PNG")
    files: list[Any] = [buffer.getvalue()] * 32
    files[9] = damage(files[9])
    table = pq.read_table(root / DATA)
    kept = pa.array(files if isinstance(files[9], str) else [{"bytes": f, "path": None} for f in files])
    pq.write_table(table.append_column("picture", kept), root / DATA)

    def change(info: Any) -> None:
        visual = [name for name in info["features"] if name.startswith("observation.images")]
        for name in visual:
            del info["features"][name]
        info["features"]["picture"] = {"dtype": "image", "shape": [16, 16, 3], "names": None}

    change_json(root / "meta/info.json", change)
    (root / "meta/heedful.json").unlink()


def test_pictures_are_decoded(copy: Path) -> None:
    as_pictures(copy, lambda file: file)
    assert check_dataset(copy).cameras == {"picture": (16, 16)}


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda file: file[:-300], "is a damaged image"),
        (lambda file: file[:200] + bytes(200) + file[400:], "is a damaged image"),
        (lambda file: b"", "is missing"),
    ],
)
def test_a_damaged_picture_is_named(copy: Path, damage: Callable[[bytes], bytes], said: str) -> None:
    as_pictures(copy, damage)
    with pytest.raises(UserError, match=f"picture of frame 9 {said}"):
        check_dataset(copy)


def test_a_column_of_images_that_holds_texts_is_refused(copy: Path) -> None:
    table = pq.read_table(copy / DATA)
    as_pictures(copy, lambda file: file)
    pq.write_table(table.append_column("picture", pa.array(["a.png"] * 32)), copy / DATA)
    with pytest.raises(UserError, match="picture of frame 0 is 'a.png'; it must hold the bytes of an image"):
        check_dataset(copy)


def test_numbers_that_are_not_finite_are_a_remark_in_columns_of_others_only(copy: Path) -> None:
    def effort(info: Any) -> None:
        info["features"]["effort"] = {"dtype": "float64", "shape": [1], "names": None}

    change_json(copy / "meta/info.json", effort)
    (copy / "meta/heedful.json").unlink()
    table = pq.read_table(copy / DATA)
    values = [float("nan"), float("inf"), *[1.0] * 30]
    pq.write_table(table.append_column("effort", pa.array(values)), copy / DATA)
    summary = check_dataset(copy)
    assert summary.remarks == ("effort has 2 numbers that are not finite; its statistics are not checked.",)
    assert summary.remarks[0] in str(summary)
    change_column(
        copy / DATA, "action", lambda column: pa.array([[float("nan")] * 8] * 32, pa.list_(pa.float32(), 8))
    )
    with pytest.raises(UserError, match="action has numbers that are not finite"):
        check_dataset(copy)
