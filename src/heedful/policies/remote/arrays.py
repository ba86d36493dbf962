"""Arrays inside msgpack messages, coded as openpi and as vla-eval code them; nothing is unpickled.

The two codings look alike and are not interchangeable: openpi's maps have bytes for keys,
vla-eval's have strings, and vla-eval may send pictures compressed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import msgpack
import numpy as np
from numpy.typing import NDArray

from heedful.policies.remote.pictures import decoded_picture, encoded_picture

Coding = Literal["openpi", "vla-eval"]
NUMBERS = "biuf"
"""Kinds of dtype that are taken: truth values, whole numbers and floats. Objects never are."""


class BadMessage(ValueError):
    """Bytes that are no message of the protocol; the text says what is wrong with them."""


def pack(message: object, coding: Coding, pictures: Literal["raw", "png"] = "raw") -> bytes:
    """Return ``message`` as msgpack.

    Args:
        message: Maps, lists, texts, numbers, arrays of numbers.
        coding: Whose maps stand for arrays.
        pictures: How vla-eval's uint8 [H, W, 3] arrays travel; both ways are lossless.

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
        if coding == "vla-eval" and pictures == "png" and _is_picture(value):
            return encoded_picture(value)
        return _as_map(value, coding)

    try:
        packed: bytes = msgpack.packb(message, default=known)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadMessage(f"cannot be put into a message: {error}") from error
    return packed


def unpack(data: bytes, coding: Coding) -> dict[Any, Any]:
    """Return the map that ``data`` is, with its arrays (writable copies).

    Raises:
        BadMessage: No msgpack, no map, or something in it claims to be an array and is none.
    """
    hook = _openpi_hook if coding == "openpi" else _vla_eval_hook
    found = _unpacked(data, hook)
    if not isinstance(found, dict):
        raise BadMessage(f"is a {type(found).__name__}, not a map")
    return found


def _unpacked(data: bytes, hook: Callable[[dict[Any, Any]], object]) -> object:
    try:
        return msgpack.unpackb(data, object_hook=hook)
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


def _openpi_hook(found: dict[Any, Any]) -> object:
    if b"__npgeneric__" in found:
        kind = _dtype(found.get(b"dtype"))
        try:
            return kind.type(found.get(b"data"))
        except (TypeError, ValueError, OverflowError) as error:
            raise BadMessage(f"holds a number of dtype {kind} that is none") from error
    if b"__ndarray__" in found:
        return _array(found.get(b"data"), found.get(b"dtype"), found.get(b"shape"))
    return found


def _vla_eval_hook(found: dict[Any, Any]) -> object:
    if "__image__" in found:
        if found.get("format") == "raw":
            return _array(found.get("data"), found.get("dtype"), found.get("shape"))
        try:
            return decoded_picture(found.get("data"), found.get("format"))
        except ValueError as error:
            raise BadMessage(f"holds a picture that is none: {error}") from error
    if "__ndarray__" in found:
        return _array(found.get("data"), found.get("dtype"), found.get("shape"))
    return found


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


def _is_picture(array: NDArray[Any]) -> bool:
    return array.dtype == np.uint8 and array.ndim == 3 and array.shape[2] == 3 and array.size > 0
