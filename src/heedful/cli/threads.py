"""One thread for linear algebra, set before anything that reads the setting is loaded."""

from __future__ import annotations

import os
import sys


def one_thread() -> None:
    """Have numpy work in one thread, unless the environment says otherwise.

    The matrices of one text are small: on a busy machine a second thread makes them several
    times slower. Too late, and so without effect, once numpy is loaded.
    """
    from heedful.rollouts.worker_process import THREAD_VARIABLES

    if "numpy" not in sys.modules:
        for name in THREAD_VARIABLES:
            os.environ.setdefault(name, "1")
