"""Find the factor of an instruction that a policy follows when two conflict.

A policy is taught instructions in which two factors always go together, then meets
scenes in which they conflict (arXiv 2607.21582).
"""

from __future__ import annotations

from heedful.suites.factors.suite import FactorsSuite


def make() -> FactorsSuite:
    """Return the suite (entry point ``heedful.suites``, name ``factors``)."""
    return FactorsSuite()
