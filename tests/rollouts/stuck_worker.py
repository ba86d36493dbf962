"""A driver that is killed by its worker, which then lives on: ``stuck_worker.py lock|child``.

``lock``: in foreign code that holds the interpreter's lock and never comes back, whatever the signal.
``child``: beside a process that it has started.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading

from heedful.rollouts.pool import Pool


def stick(how: str) -> None:
    if how == "child":
        subprocess.Popen(["sleep", "600"])
        os.kill(os.getppid(), signal.SIGKILL)
        threading.Event().wait()
    sys.setswitchinterval(600)  # no other thread gets the lock between these calls
    library, mutex = ctypes.PyDLL(None), ctypes.create_string_buffer(128)
    library.pthread_mutex_lock(mutex)
    library.kill(os.getppid(), signal.SIGKILL)
    library.pthread_mutex_lock(mutex)


if __name__ == "__main__":
    Pool(1).map(stick, [sys.argv[1]])
