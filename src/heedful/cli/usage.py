"""The line for a value on the command line that will not do."""

from __future__ import annotations

import typer

_WORDS = {
    "int_parsing": "it must be a whole number",
    "int_from_float": "it must be a whole number",
    "float_parsing": "it must be a number",
    "greater_than_equal": "it must be at least {ge}",
    "greater_than": "it must be more than {gt}",
    "less_than_equal": "it must be at most {le}",
    "less_than": "it must be less than {lt}",
}


def usage_line(error: typer.TyperException) -> str:
    """Return what ``error`` says, with the value found where the checker knows it."""
    message = error.format_message()
    details = getattr(error.__context__, "errors", None)
    if details is None:
        return message
    first = details()[0]
    option, colon, _ = message.partition(": ")
    words = _WORDS.get(first["type"])
    if not colon or words is None:
        return message
    return f"{option}: {str(first['input'])[:60]!r} is given; {words.format(**first.get('ctx', {}))}."
