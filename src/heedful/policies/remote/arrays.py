"""Arrays inside msgpack messages, coded as openpi and as vla-eval code them; nothing is unpickled.

The two codings look alike and are not interchangeable: openpi's maps have bytes for keys,
vla-eval's have strings, and its own clients send pictures as PNG.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import msgpack
import numpy as np
from numpy.typing import NDArray

from heedful.policies.remote.pictures import decoded_picture

Coding = Literal["openpi", "vla-eval"]
NUMBERS = "biuf"
"""Kinds of dtype that are taken: truth values, whole numbers and floats. Objects never are."""

LONGEST_LIST, LARGEST_MAP, MOST_VALUES = 20_000, 1_000, 200_000
"""Values in one list, in one map, and in all of a message; an array counts as one. Of a megabyte of
empty maps Python would make seventy."""

MOST_PIXELS = 2 * 4096 * 4096
"""Decoded in one message: a kilobyte of PNG can be a megabyte of pixels."""


class BadMessage(ValueError):
    """Bytes that are no message of the protocol; the text says what is wrong with them."""


def pack(message: object, coding: Coding) -> bytes:
    """Return ``message`` as msgpack.

    Args:
        message: Maps, lists, texts, numbers, arrays of numbers.
        coding: Whose maps stand for arrays; pictures go out as arrays, too.

    Raises:
        BadMessage: It holds something that no message can, such as an array of objects.
    """

    def known(value: object) -> object:
        if isinstance(value, np.generic):
            return value.item()
        if not isinstance(value, np.ndarray):
            raise TypeError(f"a {type(value).__name__}")
        if value.dtype.kind not in NUMBERS:
            raise TypeError(f"an array of dtype {value.dtype}")
        return _as_map(value, coding)

    try:
        packed: bytes = msgpack.packb(message, default=known)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadMessage(f"cannot be put into a message: {error}") from error
    return packed


def unpack(data: bytes, coding: Coding) -> dict[Any, Any]:
    """Return the map that ``data`` is, with its arrays (writable copies).

    Raises:
        BadMessage: No msgpack, no map, too much, or something in it claims to be an array and is none.
    """
    found = _unpacked(data, _Budget(coding))
    if not isinstance(found, dict):
        raise BadMessage(f"is a {type(found).__name__}, not a map")
    return found


class _Budget:
    """Reads the lists and maps of one message, and stops when they become too many."""

    def __init__(self, coding: Coding) -> None:
        self._openpi = coding == "openpi"
        self._values, self._pixels = MOST_VALUES, MOST_PIXELS

    def of_list(self, found: list[Any]) -> list[Any]:
        self._spend(len(found))
        return found

    def of_map(self, found: dict[Any, Any]) -> object:
        self._spend(1 + len(found))
        if self._openpi:
            return _openpi_value(found)
        if "__image__" in found and found.get("format") != "raw":
            picture = _picture(found, self._pixels)
            self._pixels -= picture.shape[0] * picture.shape[1]
            return picture
        return _vla_eval_value(found)

    def _spend(self, count: int) -> None:
        self._values -= 1 + count
        if self._values < 0:
            raise BadMessage(f"holds more than {MOST_VALUES} values")


def _unpacked(data: bytes, budget: _Budget) -> object:
    try:
        return msgpack.unpackb(
            data,
            object_hook=budget.of_map,
            list_hook=budget.of_list,
            max_array_len=LONGEST_LIST,
            max_map_len=LARGEST_MAP,
        )
    except BadMessage:
        raise
    except (ValueError, TypeError, OverflowError, RecursionError, msgpack.UnpackException) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise BadMessage(f"is no valid msgpack ({said[:120]})") from error


def _as_map(array: NDArray[Any], coding: Coding) -> dict[Any, object]:
    content: dict[str, object] = {
        "data": array.tobytes(),
        "dtype": array.dtype.str,
        "shape": list(array.shape),
    }
    if coding == "openpi":
        return {b"__ndarray__": True} | {key.encode(): value for key, value in content.items()}
    return {"__ndarray__": True} | content


def _openpi_value(found: dict[Any, Any]) -> object:
    if b"__npgeneric__" in found:
        kind = _dtype(found.get(b"dtype"))
        try:
            return kind.type(found.get(b"data"))
        except (TypeError, ValueError, OverflowError) as error:
            raise BadMessage(f"holds a number of dtype {kind} that is none") from error
    if b"__ndarray__" in found:
        return _array(found.get(b"data"), found.get(b"dtype"), found.get(b"shape"))
    return found


def _vla_eval_value(found: dict[Any, Any]) -> object:
    if "__ndarray__" in found or "__image__" in found:
        return _array(found.get("data"), found.get("dtype"), found.get("shape"))
    return found


def _picture(found: dict[Any, Any], most_px: int) -> NDArray[np.uint8]:
    try:
        return decoded_picture(found.get("data"), found.get("format"), most_px)
    except ValueError as error:
        raise BadMessage(f"holds a picture that is none: {error}") from error


def _array(data: object, dtype: object, shape: object) -> NDArray[Any]:
    kind = _dtype(dtype)
    if not isinstance(data, bytes) or not isinstance(shape, list | tuple):
        raise BadMessage("holds an array without data or shape")
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in shape) or len(shape) > 16:
        raise BadMessage(f"holds an array of the shape {str(shape)[:60]}")
    if math.prod(shape) * kind.itemsize != len(data):
        raise BadMessage(f"holds an array of shape {list(shape)} and dtype {kind} in {len(data)} bytes")
    return np.frombuffer(data, dtype=kind).reshape(shape).copy()


def _dtype(name: object) -> np.dtype[Any]:
    if not isinstance(name, str) or len(name) > 16:
        raise BadMessage(f"holds an array of the dtype {str(name)[:60]!r}")
    try:
        kind = np.dtype(name)
    except (TypeError, ValueError, SyntaxError) as error:
        raise BadMessage(f"holds an array of the dtype {name!r}") from error
    if kind.kind not in NUMBERS:
        raise BadMessage(f"holds an array of dtype {name!r}; only numbers are taken")
    return kind
