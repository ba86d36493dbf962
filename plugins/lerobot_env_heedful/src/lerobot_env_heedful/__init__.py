"""heedful's suites as an environment of LeRobot; importing this registers ``--env.type=heedful``."""

from __future__ import annotations

from lerobot_env_heedful.config import HeedfulEnvConfig
from lerobot_env_heedful.environment import HeedfulEnv

__all__ = ["HeedfulEnv", "HeedfulEnvConfig"]
