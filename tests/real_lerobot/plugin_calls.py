"""What LeRobot makes of ``--env.type=heedful``, and its scripts with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PX = 96
"""The pictures of conftest's dataset."""


def configured(**options: Any) -> Any:
    """What LeRobot makes of `--env.type=heedful` and options."""
    from lerobot.envs.factory import make_env_config
    from lerobot.utils.import_utils import register_third_party_plugins

    register_third_party_plugins()
    return make_env_config("heedful", **options)


def lerobot(script: str, *options: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """`lerobot-eval` or `lerobot-train`, with `--env.type=heedful`; nothing is downloaded."""
    command = [sys.executable, "-m", f"lerobot.scripts.lerobot_{script}", "--env.type=heedful", *options]
    offline = {**os.environ, "HF_HUB_OFFLINE": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=cwd, env=offline)
