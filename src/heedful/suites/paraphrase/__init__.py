"""Ask for what a policy was taught in other words: same scene, same seed, same goal.

A paraphrase may change how the object is worded, how the action is, or both: the 43 cells
of LIBERO-Para's taxonomy (arXiv 2603.28301).
"""

from __future__ import annotations

from heedful.suites.paraphrase.suite import ParaphraseSuite


def make() -> ParaphraseSuite:
    """Return the suite (entry point ``heedful.suites``, name ``paraphrase``)."""
    return ParaphraseSuite()
