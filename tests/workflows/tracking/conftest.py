"""Makes the doubles of this folder importable, and runs `heedful` as a user with nothing configured would."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def heedful(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Return what runs one command line in a folder, with no login and no settings of whoever tests."""
    home = tmp_path_factory.mktemp("home")
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("WANDB_", "XDG_")) and not k.lower().endswith("_proxy") and k != "NETRC"
    }

    def command(here: Path, line: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "heedful", *line.split()],
            cwd=here,
            env={**kept, "HOME": str(home), "PYTHONPATH": str(here), **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    return command
