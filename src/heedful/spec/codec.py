"""JSON both ways for the frozen values of this room, and a digest that stays the same."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any, TypeVar, cast

from heedful.spec.errors import UserError

T = TypeVar("T")


@cache
def _adapter(cls: Any) -> Any:
    from pydantic import TypeAdapter  # heavy: only when values cross an edge

    return TypeAdapter(cls)


def to_json(value: object) -> Any:
    """Return ``value`` as plain JSON data (dicts, lists, strings, numbers)."""
    kind: Any = type(value)
    return _adapter(kind).dump_python(value, mode="json")


def from_json(cls: type[T], data: object, where: str = "value") -> T:
    """Return the ``cls`` that ``data`` describes.

    Args:
        cls: A dataclass of the spec room. Unknown keys are refused where it sets
            ``__pydantic_config__ = {"extra": "forbid"}``.
        data: Plain JSON data.
        where: What is being read, for the error line.

    Raises:
        UserError: A key is missing, unknown or of the wrong type.
    """
    from pydantic import ValidationError

    try:
        kind: Any = cls
        return cast(T, _adapter(kind).validate_python(data))
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(part) for part in first["loc"]) or "top level"
        raise UserError(f"{where}: {at}: {first['msg']}.") from error


def canonical(data: object) -> str:
    """Return JSON text that is equal for equal data: sorted keys, no spaces."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: object, length: int = 12) -> str:
    """Return a stable hexadecimal digest of a spec value or of plain JSON data.

    >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    True
    """
    data = to_json(value) if hasattr(value, "__dataclass_fields__") else value
    return hashlib.sha256(canonical(data).encode()).hexdigest()[:length]
