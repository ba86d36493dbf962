"""What somebody else's code raised or said, as text that can be shown, sent and written, whatever it is."""

from __future__ import annotations

import traceback

LINE = 300
"""Characters of an error's one line at most."""
_MESSAGE = 10_000
_TRACEBACK = 100_000


class RaisedElsewhere(Exception):
    """Stands for an exception of another process, of a class that may not exist in this one."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"{name}: {text}" if text else name)
        self.name, self.text = name, text


def plain(text: str, longest: int = _MESSAGE) -> str:
    """Return ``text`` as a str, no subclass, of at most ``longest`` characters that UTF-8 can hold.

    >>> plain("abcdefgh", 6)
    'abc...'
    """
    exact = str.__str__(text)[: longest + 1]
    exact = exact.encode("utf-8", "backslashreplace").decode()
    return exact if len(exact) <= longest else exact[: max(longest - 3, 0)] + "..."


def safe_text(error: BaseException) -> str:
    """Return the message of ``error``, or why it has none."""
    try:
        return plain(str(error))
    except BaseException as second:
        return f"its message cannot be read ({_name(second)})"


def name_and_text(error: BaseException) -> tuple[str, str]:
    """Return class and message of ``error``; of one from another process, what they were there."""
    if isinstance(error, RaisedElsewhere):
        return error.name, error.text
    return _name(error), safe_text(error)


def one_line(error: BaseException, named: bool = True) -> str:
    """Return class and message of ``error`` in one line.

    Args:
        error: Anything that was raised.
        named: Write the class, too, even where there is a message.
    """
    name, text = name_and_text(error)
    text = " ".join(text.split())
    return plain((f"{name}: {text}" if named else text) if text else name, LINE)


def safe_traceback(error: BaseException) -> str:
    """Return the traceback of ``error``, or its one line where that cannot be made."""
    try:
        return plain("".join(traceback.format_exception(error)), _TRACEBACK)
    except BaseException:
        return f"{one_line(error)}\n"


def _name(error: BaseException) -> str:
    try:
        return plain(type(error).__name__, LINE)
    except BaseException:
        return "Exception"
