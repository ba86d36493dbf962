"""A worker ends with its driver, whatever it is doing."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "stuck_worker.py"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process for its parent's sake")
@pytest.mark.parametrize("how", ["lock", "child"])
def test_a_worker_and_what_it_started_end_with_a_driver_that_is_killed(how: str) -> None:
    driver = subprocess.Popen([sys.executable, str(SCRIPT), how], stderr=subprocess.PIPE, text=True)
    # The worker and its child hold the pipe of standard error, too: this comes back when they have ended.
    _, said = driver.communicate(timeout=30)
    assert driver.returncode == -signal.SIGKILL and said == ""
