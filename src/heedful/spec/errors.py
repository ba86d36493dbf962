"""The one error a user's mistake raises: one clear line, exit code 2, no traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """A mistake that the user can mend; its message is the one line that is shown."""


def unknown(kind: str, found: str, valid: Iterable[str]) -> UserError:
    """Return the error for a name that is not known, suggesting the nearest valid one.

    Args:
        kind: What was named, for example ``"factor"``.
        found: The name as the user wrote it.
        valid: The names that would do.
    """
    names = sorted(valid)
    close = difflib.get_close_matches(found, names, n=1, cutoff=0.5)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return UserError(f"Unknown {kind} {found!r}.{hint} Valid: {', '.join(names)}.")
