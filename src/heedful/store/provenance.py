"""What a run was made with: versions, git commit, machine, Python."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("heedful", "numpy", "mujoco", "torch", "pyarrow", "polars", "av", "scipy", "pydantic")


def environment() -> dict[str, Any]:
    """Return versions, git commit and machine of this process; nothing heavy is imported."""
    return {
        "python": platform.python_version(),
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
        "git_commit": git_commit(),
        "machine": f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} cores",
    }


def now() -> str:
    """Return the time in UTC, ISO 8601 to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def git_commit() -> str | None:
    """Return the commit of heedful's own checkout, ``+`` appended when it has local changes.

    ``None`` when the package was installed rather than checked out.
    """
    package = Path(__file__).resolve().parents[1]
    checkout = package.parents[1]
    if package.parent.name != "src" or not (checkout / ".git").exists():
        return None
    commit = _git(checkout, "rev-parse", "HEAD")
    if commit is None:
        return None
    return commit + ("+" if _git(checkout, "status", "--porcelain", "--untracked-files=no") else "")


def _git(checkout: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(checkout), *arguments], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None  # git is not installed or does not answer: the commit is unknown
    return done.stdout.strip() if done.returncode == 0 else None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
