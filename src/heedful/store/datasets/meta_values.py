"""What the meta files must hold so that everything else may rely on them: a line for what does not fit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from string import Formatter
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heedful.spec.errors import UserError

_FASTEST_FPS = 100_000
_LONGEST_PATH = 200
_PLACE = re.compile("(0[0-9])?d?")
"""How a path may write a number: ``03d`` as LeRobot does, or just so."""

_COUNTS = ("length", "dataset_from_index", "dataset_to_index", "data/chunk_index", "data/file_index")


@contextmanager
def unreadable(what: str) -> Iterator[None]:
    """Turn what damaged data make the code below stumble over into one line that names ``what``."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, OSError) as error:
        raise _cannot(what, error) from error
    except (pa.ArrowException, NotImplementedError, RecursionError) as error:
        raise _cannot(what, error) from error


def _cannot(what: str, error: Exception) -> UserError:
    reason = " ".join(str(error).split())
    return UserError(f"{what} cannot be read ({type(error).__name__}: {reason[:200]}).")


def check_info(info: Mapping[str, Any], where: str) -> None:
    """Refuse an ``info.json`` without rate, totals, features, or places of the files.

    Args:
        info: Its content.
        where: What it is called in the message.
    """
    fps: Any = info.get("fps")
    if isinstance(fps, float) and fps.is_integer():
        fps = int(fps)
    if not _is_whole(fps, 1) or fps > _FASTEST_FPS:
        raise UserError(f"{where}: fps is {_shown(fps)}; it must be a whole number of at least 1.")
    for name in ("total_episodes", "total_frames", "total_tasks"):
        if not _is_whole(info.get(name), 0):
            raise UserError(f"{where}: {name} is {_shown(info.get(name))}; it must be a whole number.")
    features = info.get("features")
    if not isinstance(features, dict):
        raise UserError(f"{where}: features is {_shown(features)}; it must say what every feature is.")
    for name, feature in features.items():
        _check_feature(feature, f"{where}: feature {name}")
    _check_place(info.get("data_path"), ("chunk_index", "file_index"), f"{where}: data_path")
    filmed = [name for name, feature in features.items() if feature["dtype"] == "video"]
    if filmed:
        _check_place(
            info.get("video_path"), ("video_key", "chunk_index", "file_index"), f"{where}: video_path"
        )
    for name in filmed:
        _refuse_elsewhere(name, f"{where}: the name of feature {name}")


def _check_feature(feature: Any, where: str) -> None:
    if not isinstance(feature, dict):
        raise UserError(f"{where} is {_shown(feature)}; it needs a dtype and a shape.")
    dtype, shape, names = feature.get("dtype"), feature.get("shape"), feature.get("names")
    if not isinstance(dtype, str):
        raise UserError(f"{where}: dtype is {_shown(dtype)}; it must be a text such as 'float32'.")
    if not isinstance(shape, list) or not all(_is_whole(side, 1) for side in shape):
        raise UserError(f"{where}: shape is {_shown(shape)}; it must be a list of whole numbers.")
    if dtype not in ("video", "image"):
        return
    named = isinstance(names, list) and "height" in names and "width" in names
    if len(shape) not in (2, 3) or (named and len(names or ()) != len(shape)):
        raise UserError(
            f"{where}: shape is {shape} and names is {_shown(names)}; images need height, width and channels."
        )


def _check_place(given: Any, fields: Sequence[str], where: str) -> None:
    """Refuse a path that is not filled in with some of ``fields``, or that leads out of the dataset."""
    braced = " and ".join(f"{{{name}}}" for name in fields)
    refusal = UserError(f"{where} is {_shown(given)}; it must be a path with {braced}.")
    if not isinstance(given, str) or not given or len(given) > _LONGEST_PATH:
        raise refusal
    try:
        parts = list(Formatter().parse(given))
    except ValueError as error:
        raise refusal from error
    for _, name, form, conversion in parts:
        if name is None:
            continue
        plain = not form if name == "video_key" else _PLACE.fullmatch(form or "")
        if name not in fields or conversion is not None or not plain:
            raise refusal
    _refuse_elsewhere(given, where)


def _refuse_elsewhere(path: str, where: str) -> None:
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or "\0" in path:
        raise UserError(f"{where} is {_shown(path)}; it must stay inside the dataset.")


def check_episodes(rows: Sequence[Mapping[str, Any]], filmed: Sequence[str], where: str) -> None:
    """Refuse episodes that are not numbered 0 to N - 1, once each, with a length, a task and a place.

    Args:
        rows: One an episode, by index.
        filmed: Features kept as video.
        where: What the table is called in the message.
    """
    places = [f"videos/{name}/{part}" for name in filmed for part in ("chunk_index", "file_index")]
    starts = [f"videos/{name}/from_timestamp" for name in filmed]
    for i, row in enumerate(rows):
        index = row["episode_index"]
        if index != i:
            what = (
                "occurs twice" if i and index == rows[i - 1]["episode_index"] else f"comes where {i} should"
            )
            raise UserError(f"{where}: episode_index {index} {what}; every index from 0 must occur once.")
        for name in (*_COUNTS, *places, *starts):
            if name not in row:
                raise UserError(f"{where} lacks the column {name}.")
        for name in (*_COUNTS, *places):
            least = 1 if name == "length" else 0
            if not _is_whole(row[name], least):
                raise UserError(
                    f"{where}: {name} of episode {i} is {_shown(row[name])}; "
                    f"it must be a whole number of at least {least}."
                )
        frames = row["dataset_to_index"] - row["dataset_from_index"]
        if frames != row["length"]:
            raise UserError(
                f"{where}: length of episode {i} is {row['length']}, but {frames} frames lie between its "
                "dataset_from_index and dataset_to_index."
            )
        for name in starts:
            if not _is_number(row[name]) or row[name] < 0:
                raise UserError(f"{where}: {name} of episode {i} is {_shown(row[name])}; it must be seconds.")
        tasks = row["tasks"]
        if not isinstance(tasks, list) or not tasks or not all(isinstance(task, str) for task in tasks):
            raise UserError(f"{where}: tasks of episode {i} is {_shown(tasks)}; it must be a list of texts.")


def check_indices(values: Sequence[Any], where: str) -> None:
    """Refuse an index that is no whole number."""
    for value in values:
        if not _is_whole(value, 0):
            raise UserError(f"{where} has {_shown(value)}; it must hold whole numbers.")


def check_notes(notes: Mapping[str, Any], where: str) -> None:
    """Refuse a ``heedful.json`` that is not a list of notes an episode, failures, and checksums of files."""
    for part in ("episodes", "failed"):
        entries = notes.get(part, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise UserError(f"{where}: {part} is {_shown(entries)}; it must be a list with a note for each.")
        for i, entry in enumerate(entries):
            if not isinstance(entry.get("source", {}), dict):
                raise UserError(
                    f"{where}: source of {part} {i} is {_shown(entry['source'])}; it must be notes."
                )
            if "attempts" in entry and not _is_whole(entry["attempts"], 0):
                raise UserError(f"{where}: attempts of {part} {i} is {_shown(entry['attempts'])}, no number.")
    checksums = notes.get("sha256", {})
    if not isinstance(checksums, dict):
        raise UserError(f"{where}: sha256 is {_shown(checksums)}; it must name the files.")
    for name in checksums:
        _refuse_elsewhere(name, f"{where}: a file of sha256")


def stated(stats: Mapping[str, Any], feature: str, where: str) -> dict[str, NDArray[np.float64]]:
    """Return what ``stats.json`` says of ``feature``: name -> numbers; empty where it says nothing.

    Raises:
        UserError: It does not say numbers.
    """
    given = stats.get(feature, {})
    if not isinstance(given, dict):
        raise UserError(f"{where}: statistics of {feature} are {_shown(given)}; they must be named numbers.")
    found = {}
    for name, value in given.items():
        try:
            found[name] = np.asarray(value, dtype=np.float64)
        except (ValueError, TypeError, OverflowError) as error:
            raise UserError(
                f"{where}: {name} of {feature} is {_shown(value)}; it must be numbers."
            ) from error
    return found


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def _is_whole(value: Any, least: int) -> bool:
    """Return whether ``value`` is a whole number of at least ``least``."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _shown(value: Any) -> str:
    """Return ``value`` as JSON would almost have it, shortened."""
    text = "missing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
