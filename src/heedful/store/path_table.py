"""End-effector paths from any simulator: a CSV or parquet file with one row a control step.

Columns: policy, task, episode, success (1 or 0, true or false; empty where not judged), step,
x, y, z in metres. Where they are there, these are read as well: arm, cell, category,
instruction, and target_x, target_y, target_z (where the object that the task is about stood at
the start). Others are ignored. An episode is what shares policy, task and episode.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heedful.spec.end_effector import EndEffectorPath, RecordedPaths
from heedful.spec.errors import UserError
from heedful.store.paraphrase_files import OUTCOMES

if TYPE_CHECKING:
    import polars as pl

WORDS = ("policy", "task", "episode", "success")
NUMBERS = ("step", "x", "y", "z")
OPTIONAL_WORDS = ("arm", "cell", "category", "instruction")
TARGET = ("target_x", "target_y", "target_z")
ENDINGS = (".csv", ".parquet")
_KEY = ("policy", "task", "episode")


def path_tables(path: Path) -> list[Path]:
    """Return the tables at ``path``: itself, or those that lie in the folder; empty if there are none."""
    if path.is_dir():
        return sorted(p for p in path.iterdir() if p.suffix in ENDINGS)
    return [path] if path.suffix in ENDINGS else []


def read_path_table(path: Path) -> RecordedPaths:
    """Return the episodes of one table.

    Raises:
        UserError: It cannot be read or makes no sense; names the column and the row. Rows of a
            CSV are counted as its lines, the header being line 1.
    """
    table = _checked(_read(path), path)
    columns = {name: table[name].to_numpy() for name in (*NUMBERS, *TARGET) if name in table.columns}
    words = {name: table[name].to_list() for name in (*WORDS, *OPTIONAL_WORDS) if name in table.columns}
    numbers = table["row"].to_list()
    keys = list(zip(*(words[name] for name in _KEY), strict=True))
    starts = [i for i in range(len(keys)) if i == 0 or keys[i] != keys[i - 1]]
    paths: list[EndEffectorPath] = []
    left_out: dict[str, dict[str, int]] = {}
    for start, end in zip(starts, [*starts[1:], len(keys)], strict=True):
        rows = slice(start, end)
        policy, task, episode = keys[start]
        success = _success(words["success"][start], f"{path}, row {numbers[start]}")
        if success is None:
            reasons = left_out.setdefault(policy, {})
            reasons["abstained"] = reasons.get("abstained", 0) + 1
            continue
        paths.append(
            EndEffectorPath(
                policy,
                task,
                episode,
                success,
                np.stack([columns[axis][rows] for axis in "xyz"], axis=1),
                **{name: words[name][start] for name in OPTIONAL_WORDS if name in words},
                target_m=np.asarray([columns[name][start] for name in TARGET])
                if TARGET[0] in columns
                else None,
            )
        )
    return RecordedPaths(tuple(paths), left_out)


def _read(path: Path) -> pl.DataFrame:
    """Return the table as it is, every word a string."""
    import polars as pl

    try:
        if path.suffix == ".parquet":
            return pl.read_parquet(path)
        return pl.read_csv(path, infer_schema=False)
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist.") from error
    except pl.exceptions.NoDataError as error:
        raise UserError(f"{path} is empty; expected the columns {', '.join((*WORDS, *NUMBERS))}.") from error
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{path} cannot be read as a table: {reason}.") from error


def _checked(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return the table with numbers as float64, sorted by episode and step, and its row numbers."""
    import polars as pl

    missing = [name for name in (*WORDS, *NUMBERS) if name not in table.columns]
    if missing:
        raise UserError(
            f"{path} has no column {missing[0]!r}; found {', '.join(table.columns)}; "
            f"needed {', '.join((*WORDS, *NUMBERS))}, one row a step."
        )
    given = [name for name in TARGET if name in table.columns]
    if len(given) not in (0, 3):
        raise UserError(f"{path} has the column {given[0]!r}, but not all of {', '.join(TARGET)}.")
    if not table.height:
        raise UserError(f"{path} has a header but no rows.")
    words = [name for name in (*WORDS, *OPTIONAL_WORDS) if name in table.columns]
    numbers = [*NUMBERS, *given]
    original = table.with_row_index("row", offset=2 if path.suffix == ".csv" else 1)
    table = original.with_columns(
        *(pl.col(name).cast(pl.String).fill_null("").str.strip_chars() for name in words),
        *(pl.col(name).cast(pl.Float64, strict=False) for name in numbers),
    )
    for name in numbers:
        bad = (~table[name].is_finite()).fill_null(True).arg_true()
        if len(bad):
            at, found = table["row"][bad[0]], original[name][bad[0]]
            raise UserError(f"{path}, row {at}: {name} must be a finite number, found {found!r}.")
    for name in _KEY:
        blank = (table[name] == "").arg_true()
        if len(blank):
            raise UserError(f"{path}, row {table['row'][blank[0]]}: {name} is empty.")
    # episodes in the order met, so that results do not depend on how their names sort
    first = pl.col("row").min().over(_KEY)
    table = table.sort(first, "step", maintain_order=True)
    _refuse_contradictions(table, path)
    return table


def _refuse_contradictions(table: pl.DataFrame, path: Path) -> None:
    """Refuse an episode with a step twice, or with two answers to what is asked once an episode."""
    import polars as pl

    same = pl.struct(_KEY) == pl.struct(_KEY).shift(1)
    twice = table.select(((pl.col("step") == pl.col("step").shift(1)) & same).fill_null(False)).to_series()
    for i in twice.arg_true()[:1]:
        raise UserError(f"{path}, row {table['row'][i]}: step {table['step'][i]:g} appears a second time.")
    for name in ("success", *OPTIONAL_WORDS, *TARGET):
        if name in table.columns:
            first = table.select(pl.col(name, "row").first().over(_KEY))
            for i in (table[name] != first[name]).arg_true()[:1]:
                raise UserError(
                    f"{path}, row {table['row'][i]}: {name} is {table[name][i]!r}, "
                    f"but {first[name][i]!r} in row {first['row'][i]} of the same episode."
                )


def _success(text: str, where: str) -> bool | None:
    if text.lower() not in OUTCOMES:
        raise UserError(f"{where}: success must be 1 or 0, true or false, or empty; found {text!r}.")
    return OUTCOMES[text.lower()]
