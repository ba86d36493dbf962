"""What runs inside a worker of the pool: one function, many items."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
from multiprocessing import connection
from typing import Any

from heedful.rollouts.failures import plain, safe_text, safe_traceback
from heedful.rollouts.home import end_if_forked, stay_at_home
from heedful.rollouts.lifeline import end_with_parent
from heedful.rollouts.watch import Watch

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "LP_NUM_THREADS",
    "POLARS_MAX_THREADS",
)
"""Each worker has one thread: two workers with two threads each are slower than one."""


def main(
    pipe: connection.Connection,
    function: bytes,
    watch: Watch,
    time_limit_s: float | None,
    host: connection.Connection | None = None,
) -> None:
    """Receive items until ``None`` comes, answer each with its result or its failure.

    The messages to the driver are those of ``rollouts.site``. A function that has a method
    ``watched_by`` is given the watch, to set limits of its own; one that has a method ``served_by``
    is given the pipe to the process that holds the policies, if there is one.
    """
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)  # so that whatever is started here is ended with this process
    with contextlib.suppress(OSError):
        os.dup2(2, 1)  # standard output is for the driver's results; whatever libraries print is no result
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    end_with_parent()
    stay_at_home(lambda: _hang_up(pipe, host))
    try:
        call = pickle.loads(function)
        if hasattr(call, "watched_by"):
            call.watched_by(watch)
        if host is not None and hasattr(call, "served_by"):
            call.served_by(host)
    except BaseException as error:
        _send(pipe, ("failed", -1, *_described(error)))
        os._exit(1)
    _send(pipe, ("ready",))
    while (message := _receive(pipe)) is not None:
        index, item = message
        try:
            with watch.limited("", time_limit_s):
                data = pickle.dumps(("done", index, call(pickle.loads(item))))
        except BaseException as error:
            end_if_forked()
            data = pickle.dumps(("failed", index, *_described(error)))
        _send_bytes(pipe, data)
    close = getattr(call, "close", None)
    if close is not None:
        close()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # some graphics drivers crash in their exit handlers


def _described(error: BaseException) -> tuple[bool, str]:
    from heedful.spec.errors import UserError

    if isinstance(error, UserError):
        return True, safe_text(error)
    if isinstance(error, OSError) and error.errno is not None:
        where = f"{error.filename}: " if error.filename is not None else ""
        return True, plain(f"{where}{error.strerror}.")
    if isinstance(error, MemoryError):
        text = safe_text(error)
        return True, f"Not enough memory{f': {text}' if text else ''}."
    return False, safe_traceback(error)


def _send(pipe: connection.Connection, message: tuple[Any, ...]) -> None:
    _send_bytes(pipe, pickle.dumps(message))


def _send_bytes(pipe: connection.Connection, data: bytes) -> None:
    end_if_forked()
    with contextlib.suppress(BrokenPipeError):  # the driver is gone, and so are we, next
        pipe.send_bytes(data)


def _hang_up(pipe: connection.Connection, host: connection.Connection | None) -> None:
    pipe.close()
    if host is not None:
        host.close()


def _receive(pipe: connection.Connection) -> Any:
    try:
        return pickle.loads(pipe.recv_bytes())
    except (EOFError, ConnectionResetError):
        return None  # the driver is gone
