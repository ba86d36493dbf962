"""The trained policy at work: look, read the next keypose, drive there, five times."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.policies.reference import checkpoint
from heedful.policies.reference.config import PolicyConfig
from heedful.policies.reference.maps import warp
from heedful.policies.reference.network import Network, nearest
from heedful.spec.contract import CameraContract, Observation, PolicyContract
from heedful.spec.keypose import PHASES, Keypose, phase_chunk
from heedful.spec.seams import Start


class ReferencePolicy:
    """A policy of five looks an episode, one keypose each.

    It keeps the pose that it last commanded; each chunk starts there.
    """

    def __init__(self, config: PolicyConfig, network: Network) -> None:
        self.config = config
        self._network = network
        with torch.inference_mode():
            self._taught = network.encoder(network.encoder.prepare(config.taught))
        self._words = self._manner = torch.zeros(1, config.training.words_size)
        self._phase = len(PHASES)
        self._commanded = np.zeros(4)

    @staticmethod
    def load(folder: str | Path) -> ReferencePolicy:
        """Return the policy whose checkpoint is in ``folder``.

        Raises:
            UserError: A file is missing, damaged, or of another version.
        """
        return ReferencePolicy(*checkpoint.load(Path(folder)))

    @property
    def contract(self) -> PolicyContract:
        """Both cameras at the size that the demonstrations had; absolute tool poses."""
        cameras = (self.config.table_camera, self.config.tool_camera)
        return PolicyContract(
            cameras=tuple(CameraContract(c.name, c.height_px, c.width_px) for c in cameras),
            action_mode="ee_absolute",
            control_hz=self.config.control_hz,
        )

    @torch.inference_mode()
    def reset(self, start: Start) -> str:
        """Begin an episode; the instruction is received as it is."""
        encoder = self._network.encoder
        self._words = encoder(encoder.prepare([start.instruction]))
        self._manner = nearest(self._words, self._taught)
        self._phase = 0
        return start.instruction

    def act(self, observation: Observation) -> NDArray[np.float64]:
        """Return the actions [T, 7] to the next keypose; T = 0 after the last."""
        if self._phase >= len(PHASES):
            return np.zeros((0, 7))
        tool = observation.proprioception[0]
        if self._phase == 0:
            self._commanded = tool[[0, 1, 2, 5]].copy()
        goal = self.next_keypose(observation)
        actions = phase_chunk(self._commanded[:3], float(self._commanded[3]), goal, self._phase)
        self._commanded = np.array([*goal.position_m, goal.yaw_rad])
        self._phase += 1
        return actions

    @torch.inference_mode()
    def next_keypose(self, observation: Observation) -> Keypose:
        """Return where the tool should go in the present phase."""
        config, network, words, manner = self.config, self._network, self._words, self._manner
        tool = observation.proprioception[0]
        if self._phase > 2:
            phase = torch.tensor([self._phase])
            commanded = torch.from_numpy(self._commanded[None]).float()
            change, grip = network.move(manner, phase, commanded)
            pose, opening = self._commanded + change[0].double().numpy(), float(grip[0])
        else:
            camera, grid = (
                (config.table_camera, config.table) if self._phase == 0 else (config.tool_camera, config.tool)
            )
            images = observation.images_hwc_u8[camera.name][None]
            maps = torch.from_numpy(warp(images, grid, camera.calibration, tool[None, [0, 1, 2, 5]]))
            if self._phase == 0:
                reading = network.look_at_table(maps, words, manner)
                centre = np.zeros(2)
            else:
                seen = torch.tensor([[tool[2], tool[5], tool[6] + tool[7]]], dtype=torch.float32)
                reading = network.look_at_tool(maps, words, manner, torch.tensor([self._phase]), seen)
                centre = tool[:2]
            xy = reading.xy_m[0].double().numpy() + centre
            pose = np.array([*xy, float(reading.z_m[0]), float(reading.yaw_rad[0])])
            opening = float(reading.grip_logit[0])
        x, y, z, yaw = np.clip(pose, config.low, config.high).tolist()
        return Keypose((x, y, z), yaw, float(opening > 0))
