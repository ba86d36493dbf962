from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from heedful.spec.errors import UserError
from heedful.store.path_table import path_tables, read_path_table

HEADER = "policy,task,episode,success,step,x,y,z"


def write(folder: Path, *rows: str, header: str = HEADER) -> Path:
    file = folder / "paths.csv"
    file.write_text("\n".join((header, *rows)) + "\n")
    return file


def test_rows_become_paths_in_the_order_of_their_steps(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "act,open the drawer,7,1,1,0.1,0,0.3",
        "act,open the drawer,7,1,0,0.0,0,0.4",
        "pi,close it,7,false,0,1,2,3",
        "act,open the drawer,10,TRUE,0,0.5,0,0",
    )
    paths = read_path_table(file).paths
    assert [(p.policy, p.task, p.episode, p.success) for p in paths] == [
        ("act", "open the drawer", "7", True),
        ("pi", "close it", "7", False),
        ("act", "open the drawer", "10", True),
    ]
    assert paths[0].positions_m.tolist() == [[0.0, 0.0, 0.4], [0.1, 0.0, 0.3]]
    assert paths[0].positions_m.dtype == np.float64
    assert paths[0].target_m is None and paths[0].arm == ""


def test_optional_columns_are_read_and_others_ignored(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "p,t,1,0,0,1,2,3,paraphrase,none/hint,act,please,0.5,0.1,0,whatever",
        header=f"{HEADER},arm,cell,category,instruction,target_x,target_y,target_z,note",
    )
    (path,) = read_path_table(file).paths
    assert (path.arm, path.cell, path.category, path.instruction) == (
        "paraphrase",
        "none/hint",
        "act",
        "please",
    )
    assert path.target_m is not None and path.target_m.tolist() == [0.5, 0.1, 0.0]


def test_episodes_without_a_verdict_are_counted_apart(tmp_path: Path) -> None:
    recorded = read_path_table(write(tmp_path, "p,t,1,,0,1,2,3", "p,t,2,,0,1,2,3", "p,t,3,1,0,1,2,3"))
    assert len(recorded.paths) == 1
    assert recorded.left_out == {"p": {"abstained": 2}}


def test_parquet_says_the_same_as_csv(tmp_path: Path) -> None:
    file = write(tmp_path, "p,t,1,1,0,0.1,0.2,0.3", "p,t,1,1,1,0.2,0.2,0.3", "p,t,2,0,0,0.1,0.2,0.3")
    frame = pl.read_csv(file).with_columns(pl.col("success").cast(pl.Boolean))
    frame.write_parquet(tmp_path / "paths.parquet")
    from_csv, from_parquet = (read_path_table(p).paths for p in path_tables(tmp_path))
    for one, other in zip(from_csv, from_parquet, strict=True):
        assert (one.policy, one.task, one.episode, one.success) == (
            other.policy,
            other.task,
            other.episode,
            other.success,
        )
        assert (one.positions_m == other.positions_m).all()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["p,t,1,1,0,0,0,nan"], "row 2: z must be a finite number"),
        (["p,t,1,1,0,0,0,0", "p,t,1,1,1,0,left,0"], "row 3: y must be a finite number, found 'left'"),
        (["p,t,1,1,0,0,0,0", "p,t,1,1,0,0,0,0"], "row 3: step 0 appears a second time"),
        (["p,t,1,1,0,0,0,0", "p,t,1,0,1,0,0,0"], "row 3: success is '0', but '1' in row 2"),
        (["p,t,1,maybe,0,0,0,0"], "row 2: success must be 1 or 0, true or false, or empty; found 'maybe'"),
        (["p,,1,1,0,0,0,0"], "row 2: task is empty"),
        ([], "header but no rows"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_row(tmp_path: Path, rows: list[str], said: str) -> None:
    with pytest.raises(UserError) as refusal:
        read_path_table(write(tmp_path, *rows))
    assert said in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("policy,task,episode,success,step,x,y", "no column 'z'"),
        (f"{HEADER},target_x", "target_x, target_y, target_z"),
    ],
)
def test_a_missing_column_is_named(tmp_path: Path, header: str, said: str) -> None:
    row = ",".join("1" for _ in header.split(","))
    with pytest.raises(UserError, match=said):
        read_path_table(write(tmp_path, row, header=header))


def test_an_empty_a_missing_and_a_broken_file_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 nothing")
    for name in ("empty.csv", "absent.csv", "absent.parquet", "broken.parquet"):
        with pytest.raises(UserError, match=name):
            read_path_table(tmp_path / name)
