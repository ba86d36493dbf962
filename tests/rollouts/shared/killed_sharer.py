"""A driver whose workers share a policy, to be killed: ``killed_sharer.py FOLDER CASES [REST]``.

It says "two" on standard output once two episodes are finished.
"""

from __future__ import annotations

import sys

from test_site import share, spec


def told(stage: str, done: int, total: int, note: str = "") -> None:
    if done == 2:
        sys.stdout.write("two\n")
        sys.stdout.flush()


if __name__ == "__main__":
    from pathlib import Path

    share(Path(sys.argv[1]), spec(sys.argv[3]), int(sys.argv[2]), progress=told)
