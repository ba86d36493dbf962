"""JSON both ways for the frozen values of this room, and a digest that stays the same."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import fields
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
        raise UserError(f"{where}: {at}: {_worded(first)}.") from error


def refuse_odd_numbers(cls: type[Any], data: Mapping[str, Any], where: str) -> None:
    """Refuse what a person wrote for a whole-number field of ``cls`` and that is not one from 0 on.

    ``from_json`` is lenient, as files written by other programs need it: it takes ``true`` for 1.

    Args:
        cls: A dataclass all of whose ``int`` fields are counts or seeds.
        data: Its fields as they were read; ``None`` counts as not given where the field allows it.
        where: What is being read, for the error line.

    Raises:
        UserError: A field holds a truth value, a fraction, a text or a number below zero.
    """
    for field in fields(cls):
        if field.name not in data or not re.search(r"\bint\b", str(field.type)):
            continue
        value = data[field.name]
        for number in value if isinstance(value, list | tuple) else [value]:
            if number is None and "None" in str(field.type):
                continue
            if isinstance(number, bool) or not isinstance(number, int):
                raise UserError(f"{where}: {field.name} must be a whole number, not {_short(number)}.")
            if number < 0:
                raise UserError(f"{where}: {field.name} is {number}; it cannot be negative.")


_WORDS = {
    "missing": "is missing",
    "unexpected_keyword_argument": "is not known here",
    "extra_forbidden": "is not known here",
    "string_type": "must be a text, not {found}",
    "dict_type": "must be a mapping of keys to values, not {found}",
    "mapping_type": "must be a mapping of keys to values, not {found}",
    "is_instance_of": "must be a mapping of keys to values, not {found}",
    "dataclass_type": "must be a mapping of keys to values, not {found}",
    "tuple_type": "must be a list, not {found}",
    "list_type": "must be a list, not {found}",
    "int_type": "must be a whole number, not {found}",
    "int_parsing": "must be a whole number, not {found}",
    "int_from_float": "must be a whole number, not {found}",
    "float_type": "must be a number, not {found}",
    "float_parsing": "must be a number, not {found}",
    "bool_type": "must be true or false, not {found}",
    "bool_parsing": "must be true or false, not {found}",
}


def _worded(error: Mapping[str, Any]) -> str:
    """Return what is wrong in plain words; the checker's own where there are none."""
    words = _WORDS.get(error["type"])
    return words.format(found=_short(error["input"])) if words else str(error["msg"])


def _short(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


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
