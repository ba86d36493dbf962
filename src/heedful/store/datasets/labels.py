"""One label an episode: a column of the frames, of the episodes' table, or of heedful's own notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from heedful.spec.errors import UserError, unknown
from heedful.store.datasets import layout
from heedful.store.datasets.meta import Meta, column_names, read_table, values_of
from heedful.store.datasets.meta_values import check_indices, unreadable

TASKS = ("task", "tasks", "task_index")
"""Names of the task itself."""

FRAMES, EPISODES, NOTES = "data/*.parquet", "meta/episodes", layout.HEEDFUL_PATH
"""Where a label may be found."""

BEFOREHAND = (
    "scene", "arm", "case", "pair", "suite", "base_seed", "policy", "policy_ref", "training_seed",
)  # fmt: skip
"""heedful's notes that do not come from the instruction; target, verb and the factors' values do."""

_SEVERAL = " + "


@dataclass(frozen=True)
class Labels:
    """One label for every episode.

    Attributes:
        name: Of the column.
        where: What it is a column of.
        values: By episode index.
    """

    name: str
    where: str
    values: tuple[str, ...]


def tasks_of(episodes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the task of every episode; several task strings together are one task of their own.

    They are sorted: LeRobot does not keep the order in which they were given. Different tasks have
    different names, also where one is worded like the combination of others.
    """
    given = [tuple(sorted(set(episode["tasks"]))) for episode in episodes]
    for tasks, episode in zip(given, episodes, strict=True):
        if not tasks:
            raise UserError(f"Episode {episode['episode_index']} has no task.")
    names: dict[tuple[str, ...], str] = {}
    taken: set[str] = set()
    for tasks in sorted(set(given), key=lambda tasks: (len(tasks), tasks)):  # single ones keep their words
        name = _SEVERAL.join(tasks)
        while name in taken:
            name += " (several tasks)"
        names[tasks] = name
        taken.add(name)
    return [names[tasks] for tasks in given]


def read_labels(meta: Meta, name: str) -> Labels:
    """Return the label called ``name`` of every episode.

    Raises:
        UserError: There is none (names those that would do), it changes inside an episode,
            an episode has none, or it is the task itself, whatever it is called.
    """
    with unreadable(f"Label {name!r} of {meta.root}"):
        found = None if name in TASKS else _found(meta, name)
    if found is None or list(found.values) == tasks_of(meta.episodes):
        raise UserError(
            f"The label {name!r} is the task itself; name what says in which scene an episode was recorded."
        )
    return found


def _found(meta: Meta, name: str) -> Labels:
    if name in _frame_columns(meta):
        return Labels(name, FRAMES, tuple(_constant(meta, name)))
    for where, rows in ((EPISODES, meta.episodes), (NOTES, _notes(meta))):
        if rows and any(name in row for row in rows):
            return Labels(name, where, tuple(_given(rows, name, f"{meta.root / where}")))
    raise unknown(
        f"label in {meta.root}", name, [label for labels in usable(meta).values() for label in labels]
    )


def usable(meta: Meta) -> dict[str, list[str]]:
    """Return where -> the labels that could tell episodes apart in groups; not what tells the task.

    Every episode has exactly one value of each, there are several values, and some episodes
    share theirs.
    """
    rows, notes = meta.episodes, _notes(meta)
    columns = [name for name in (rows[0] if rows else ()) if "/" not in name and "_index" not in name]
    found = {
        FRAMES: [name for name in _frame_columns(meta) if _is_single(meta, name)],
        EPISODES: [name for name in columns if name not in ("length", *TASKS)],
        NOTES: [name for name in (notes[0] if notes else ()) if name in BEFOREHAND],
    }
    kept = {where: [name for name in names if _groups(meta, name)] for where, names in found.items()}
    return {where: names for where, names in kept.items() if names}


def _groups(meta: Meta, name: str) -> bool:
    try:
        values = read_labels(meta, name).values
    except UserError:
        return False
    return 1 < len(set(values)) < len(values)


def _frame_columns(meta: Meta) -> list[str]:
    """Return the columns of the frames that are no images."""
    files = [path for path in meta.data_files if path.exists()]  # only meta/ may have been downloaded
    names = column_names(files[0]) if files else meta.info["features"]
    return [name for name in names if name not in meta.views.values()]


def _is_single(meta: Meta, name: str) -> bool:
    feature = meta.info["features"].get(name, {})
    return list(feature.get("shape", [1])) == [1] and name not in (*layout.INDEX_COLUMNS, "timestamp")


def _constant(meta: Meta, name: str) -> list[str]:
    """Return the one value that the column ``name`` of the frames has in each episode."""
    found: dict[int, str] = {}
    frames: dict[int, int] = {}
    for path in meta.data_files:
        columns = ["episode_index", name] if name != "episode_index" else [name]
        table = read_table(path, columns)
        where = f"{path}: episode_index"
        episodes = values_of(table["episode_index"], where)
        check_indices(episodes, where)
        for episode, value in zip(episodes, _texts(table[name], f"{path}: {name}"), strict=True):
            frame = frames[episode] = frames.get(episode, -1) + 1
            first = found.setdefault(episode, value)
            if value != first:
                raise UserError(
                    f"{name!r} changes inside episode {episode} of {meta.root}: {_short(first)} in frame 0, "
                    f"{_short(value)} in frame {frame}; a label must be the same in all frames of an episode."
                )
    for i, episode in enumerate(meta.episodes):
        there = frames.pop(i, -1) + 1
        if there != episode["length"]:
            said = episode["length"]
            raise UserError(
                f"{meta.root / 'data'} has {there} frames of episode {i}; {EPISODES} says {said}."
            )
    if frames:
        raise UserError(f"{meta.root / 'data'} has frames of episode {min(frames)}, which {EPISODES} lacks.")
    return [found[i] for i in range(len(meta.episodes))]


def _texts(column: pa.ChunkedArray, where: str) -> Iterable[str]:
    """Return every value of ``column`` as a text."""
    kind = column.type
    if pa.types.is_struct(kind) or pa.types.is_binary(kind):
        raise UserError(f"{where} cannot be a label: it holds {kind}.")
    if pa.types.is_float32(kind):  # as it was written: 0.1, not 0.10000000149011612
        return [str(np.float32(_text(value, where))) for value in column.to_pylist()]
    return [_text(value, where) for value in values_of(column, where)]


def _text(value: Any, where: str) -> str:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if value is None or value != value:  # the latter is what no number is
        raise UserError(f"{where} is empty or NaN somewhere; every episode needs a label.")
    return str(value)


def _short(value: str) -> str:
    return value if len(value) <= 40 else f"{value[:37]}..."


def _given(rows: list[dict[str, Any]], name: str, where: str) -> list[str]:
    for i, row in enumerate(rows):
        if row.get(name) is None or row[name] != row[name]:  # the latter is NaN
            raise UserError(f"{where}: episode {i} has no {name!r}; every episode needs a label.")
    return [_text(row[name], where) for row in rows]


def _notes(meta: Meta) -> list[dict[str, Any]]:
    """Return what heedful noted of every episode; nothing where the notes are not of these episodes."""
    notes = meta.notes.get("episodes", [])
    if len(notes) != len(meta.episodes):
        return []
    return [{**{k: v for k, v in note.items() if k != "source"}, **note.get("source", {})} for note in notes]
