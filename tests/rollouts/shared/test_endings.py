"""However a driver ends, the process that holds the policies and the workers end, too, and say nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from test_site import content, own, share, spec

from heedful.store.run_folder import RunFolder

DRIVER = Path(__file__).parent / "killed_sharer.py"


def begun(path: Path, plugin_path: list[str], rest: str, count: int) -> subprocess.Popen[str]:
    """Return a driver that has finished two episodes."""
    folders = [*plugin_path, str(DRIVER.parent)]
    process = subprocess.Popen(
        [sys.executable, str(DRIVER), str(path), str(count), rest],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None and process.stdout.readline() == "two\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_the_driver_and_the_run_resumes(
    tmp_path: Path, plugin_path: list[str], number: int
) -> None:
    reference = own(tmp_path / "own", spec("slow"), 8)
    process = begun(tmp_path / "run", plugin_path, "slow", 8)
    process.send_signal(number)
    # Whoever lives still holds the pipe of standard error, and this would not come back.
    _, said = process.communicate(timeout=60)
    assert process.returncode == (-number if number == signal.SIGKILL else 143)
    assert said == ""  # no traceback, and nothing leaked that a resource tracker would speak of
    assert 2 <= len(RunFolder.open(tmp_path / "run").rows()) < 8
    assert share(tmp_path / "run", spec("slow"), 8).crashed == 0
    assert content(tmp_path / "run") == reference
