"""What an arm sees, for conventions to convert."""

import numpy as np
import pytest

from heedful.spec.contract import Observation


@pytest.fixture
def observation() -> Observation:
    """What an arm sees that points down with a yaw of 0.3 rad, its gripper open."""
    rng = np.random.default_rng(0)
    images = {name: rng.integers(0, 256, (224, 224, 3), dtype=np.uint8) for name in ("agent", "wrist")}
    pose = np.array([[0.4, 0.05, 0.3, 0.01, -0.02, 0.3, 0.04, 0.039]])
    joints = np.array([[0.0, -0.15, 0.0, -2.2, 0.0, 2.05, 0.78, 0.079]])
    return Observation(images, pose, joints, 5)
