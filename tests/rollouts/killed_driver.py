"""A driver to be killed: ``killed_driver.py FOLDER WHEN [CASES]``.

WHEN is a number n > 0: the process kills itself at its n-th write, sync or rename, a write
being left half done. 0: never. ``signal``: it notes its workers' process numbers in
FOLDER/workers once two episodes are finished, and is ended from outside.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import stat
import sys
from pathlib import Path
from typing import Any

from rollout_doubles import cases, spec

from heedful.rollouts.plan import plan
from heedful.rollouts.run import run
from heedful.spec.errors import UserError
from heedful.store.run_folder import RunFolder


def arm(at: int) -> None:
    """Kill this process at its ``at``-th call that changes the disk."""
    count = 0
    write = os.write

    def wrapped(name: str, original: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count == at:
                if name == "write":
                    write(arguments[0], arguments[1][: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments, **options)

        return call

    for name in ("fsync", "replace"):
        setattr(os, name, wrapped(name, getattr(os, name)))

    def only_files(descriptor: int, data: bytes) -> int:
        # Pipes to the workers also use os.write; only files count.
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return counted(descriptor, data) if is_file else write(descriptor, data)

    counted = wrapped("write", write)
    os.write = only_files


def main(folder: str, when: str, count: int = 6) -> int:
    if when != "signal" and int(when):
        arm(int(when))

    def note_workers(stage: str, done: int, total: int, note: str = "") -> None:
        if when == "signal" and done == 2:
            pids = [child.pid for child in multiprocessing.active_children()]
            Path(folder, "marker").write_text(json.dumps(pids))
            Path(folder, "marker").rename(Path(folder, "workers"))

    try:
        with RunFolder.open(folder, spec("random")) as opened:
            run(opened, plan(opened.spec, cases(count)), progress=note_workers)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])))
