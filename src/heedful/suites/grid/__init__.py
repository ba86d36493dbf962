"""Ask a policy for every cell of a grid of factors, in scenes where each named factor is needed.

Collection strategies are compared on it: which cells a policy was shown, and which of all
cells it can then do (arXiv 2607.21582).
"""

from __future__ import annotations

from heedful.suites.grid.suite import GridSuite


def make() -> GridSuite:
    """Return the suite (entry point ``heedful.suites``, name ``grid``)."""
    return GridSuite()
