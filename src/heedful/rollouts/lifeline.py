"""A process that ends when the one that started it does, however that one ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from multiprocessing import connection, parent_process

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """End this process, and what it started, as soon as its parent has ended, even by SIGKILL.

    A thread waits for the parent's end and kills this process's group. A thread needs the
    interpreter's lock, which foreign code may hold for good; so on Linux the kernel is asked to help,
    too: it ends this process a second later, whatever it does. The kernel means the THREAD that
    started this process, not the process: whoever starts one must keep that thread until it has ended.
    """
    threading.Thread(target=_wait_for_the_end, daemon=True).start()
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        # Not SIGKILL: that would spare what this process started, which only the thread can end. SIGHUP
        # is number 1, and its handler is alarm(1), run without the interpreter: SIGALRM after one second.
        libc.signal(signal.SIGHUP, ctypes.cast(libc.alarm, ctypes.c_void_p))
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGHUP)


def _wait_for_the_end() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        with contextlib.suppress(OSError):
            os.killpg(0, signal.SIGKILL)
        os._exit(1)
