from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from heedful.spec.contract import Calibration, Observation
from heedful.spec.demonstration import Demonstration
from heedful.worlds.tabletop.cameras import looking_at

SIZE_PX = 64
TABLE_RGB = (180, 170, 160)
RGB = {"red": (200, 20, 20), "blue": (20, 40, 200)}


def _calibration(
    frame: str, position: tuple[float, float, float], rotation: NDArray[np.float64], fovy_rad: float
) -> Calibration:
    return Calibration(frame, position, tuple(tuple(row) for row in rotation.tolist()), fovy_rad)  # type: ignore[arg-type]


CALIBRATION = {
    "agent": _calibration("world", (0.98, 0.0, 0.60), looking_at((0.98, 0.0, 0.60), (0.44, 0.0, 0.0)), 0.73),
    # 0.1 m above the tool, straight down: right is the hand's y, up its x
    "wrist": _calibration("hand", (0.0, 0.0, -0.1), np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, -1]]), 1.4),
}


def paint(
    camera: Calibration,
    discs: Sequence[tuple[str, float, float]],
    tool: NDArray[np.float64] | None = None,
    size_px: int = SIZE_PX,
) -> NDArray[np.uint8]:
    """Return a picture of discs (color, x, y) of 25 mm radius, 20 mm above the table, pixel by pixel."""
    position, rotation = np.array(camera.position_m), np.array(camera.rotation)
    if camera.frame == "hand":
        assert tool is not None
        c, s = np.cos(tool[3]), np.sin(tool[3])
        hand = np.array([[c, s, 0.0], [s, -c, 0.0], [0.0, 0.0, -1.0]])
        position, rotation = tool[:3] + hand @ position, hand @ rotation
    half = np.tan(camera.fovy_rad / 2)
    across = (np.arange(size_px) + 0.5) / size_px * 2 - 1
    u, v = np.meshgrid(across, -across)
    rays = np.stack([u * half, v * half, -np.ones_like(u)], axis=-1) @ rotation.T
    reach = (0.02 - position[2]) / np.where(rays[..., 2] < 0, rays[..., 2], np.nan)
    x, y = position[0] + reach * rays[..., 0], position[1] + reach * rays[..., 1]
    picture = np.full((size_px, size_px, 3), TABLE_RGB, np.uint8)
    for color, disc_x, disc_y in discs:
        picture[np.hypot(x - disc_x, y - disc_y) < 0.025] = RGB[color]
    return picture


def observation(discs: Sequence[tuple[str, float, float]], tool: NDArray[np.float64]) -> Observation:
    images = {name: paint(camera, discs, tool) for name, camera in CALIBRATION.items()}
    proprioception = np.array([[*tool[:3], 0.0, 0.0, tool[3], 0.04, 0.04]])
    return Observation(images, proprioception, np.zeros((1, 8)), 0)


HOME = np.array([0.4, 0.0, 0.34, 0.0])


def scattered(rng: np.random.Generator) -> list[tuple[str, float, float]]:
    """Return a red and a blue disc, well apart."""
    near, far = rng.uniform(0.36, 0.46), rng.uniform(0.54, 0.62)
    order = [near, far] if rng.random() < 0.5 else [far, near]
    return [(c, x, rng.uniform(-0.15, 0.15)) for c, x in zip(RGB, order, strict=True)]


def demonstration(color: str, discs: Sequence[tuple[str, float, float]]) -> Demonstration:
    """Return a lift of the disc of ``color``: two frames of each phase."""
    x, y = next((x, y) for c, x, y in discs if c == color)
    poses = [(0.13, 1.0), (0.085, 1.0), (0.02, 1.0), (0.02, 0.0), (0.12, 0.0)]
    keyposes = np.array([[x, y, z, 0.0, grip] for z, grip in poses])
    starts = [HOME, *(np.array([x, y, z, 0.0]) for z, _ in poses)]
    tools = [tool + [0.004 * k, 0, 0, 0] for tool in starts[:5] for k in (0, 1)]
    seen = [observation(discs, tool) for tool in tools]
    return Demonstration(
        task=f"lift the {color} disc",
        images_hwc_u8={n: np.stack([o.images_hwc_u8[n] for o in seen]) for n in CALIBRATION},
        joint_state=np.zeros((10, 8)),
        ee_state=np.stack([o.proprioception[0] for o in seen]),
        actions=np.zeros((10, 8)),
        keypose=keyposes.repeat(2, axis=0),
        phase=np.arange(5).repeat(2),
    )


def demonstrations(count: int) -> list[Demonstration]:
    rng = np.random.default_rng(0)
    return [demonstration(("red", "blue")[i % 2], scattered(rng)) for i in range(count)]


@dataclass
class Painted:
    """A table with a red and a blue disc, painted instead of rendered."""

    calibration: Mapping[str, Calibration] = field(default_factory=lambda: CALIBRATION)
    home: NDArray[np.float64] = field(default_factory=lambda: HOME)
    paint = staticmethod(paint)
    observation = staticmethod(observation)
    scattered = staticmethod(scattered)
    demonstrations = staticmethod(demonstrations)


@pytest.fixture(scope="session")
def painted() -> Painted:
    return Painted()


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def checkpoint(painted: Painted, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy that learned to lift the disc whose color it is told."""
    from heedful.policies.reference import TrainingConfig
    from heedful.policies.reference.training import fit

    folder = tmp_path_factory.mktemp("policies") / "discs"
    config = TrainingConfig(encoder="mean", steps=400, batch_size=32, checkpoint_every=1000)
    fit(painted.demonstrations(40), config, painted.calibration, folder)
    return folder
