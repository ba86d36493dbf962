"""The trained policy at work: look, read the next keypose, drive there, five times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.policies.reference import checkpoint
from heedful.policies.reference.config import PolicyConfig
from heedful.policies.reference.maps import warp
from heedful.policies.reference.network import Network, nearest
from heedful.spec.contract import CameraContract, Observation, PolicyContract
from heedful.spec.keypose import PHASES, Keypose, phase_chunk
from heedful.spec.seams import Start

TABLE, TOOL, MOVE = (0,), (1, 2), (3, 4)
"""Phases that are read off the table's map, off the tool's, and without looking."""


@dataclass(eq=False)
class Session:
    """One episode under way.

    Attributes:
        words: [1, W] the instruction.
        manner: [1, W] the taught instruction nearest to it.
        phase: The next one.
        commanded: x, y, z (m) and yaw (rad) last commanded; the next chunk starts there.
    """

    words: Tensor
    manner: Tensor
    phase: int = 0
    commanded: NDArray[np.float64] = field(default_factory=lambda: np.zeros(4))


class ReferencePolicy:
    """A policy of five looks an episode, one keypose each; episodes may share its network."""

    def __init__(self, config: PolicyConfig, network: Network) -> None:
        self.config = config
        self._network = network
        with torch.inference_mode():
            self._taught = network.encoder(network.encoder.prepare(config.taught))
        nothing = torch.zeros(1, config.training.words_size)
        self._session = Session(nothing, nothing, phase=len(PHASES))

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

    def reset(self, start: Start) -> str:
        """Begin an episode; the instruction is received as it is."""
        self._session, received = self.begin(start)
        return received

    def act(self, observation: Observation) -> NDArray[np.float64]:
        """Return the actions [T, 7] to the next keypose; T = 0 after the last."""
        return self.act_many([self._session], [observation])[0]

    @torch.inference_mode()
    def begin(self, start: Start) -> tuple[Session, str]:
        """Begin an episode beside others; the instruction is received as it is."""
        encoder = self._network.encoder
        words = encoder(encoder.prepare([start.instruction]))
        return Session(words, nearest(words, self._taught)), start.instruction

    def act_many(
        self, sessions: Sequence[Session], observations: Sequence[Observation]
    ) -> list[NDArray[np.float64]]:
        """Return the actions [T, 7] to the next keypose of every session; T = 0 after its last."""
        tools = np.array([observation.proprioception[0] for observation in observations])
        commanded = np.array(
            [
                tool[[0, 1, 2, 5]] if session.phase == 0 else session.commanded
                for session, tool in zip(sessions, tools, strict=True)
            ]
        )
        goals: dict[int, Keypose] = {}
        for phases in (TABLE, TOOL, MOVE):
            those = [i for i, session in enumerate(sessions) if session.phase in phases]
            if those:
                found = self._keyposes(
                    [sessions[i] for i in those],
                    [observations[i] for i in those],
                    tools[those],
                    commanded[those],
                )
                goals.update(zip(those, found, strict=True))
        chunks = [np.zeros((0, 7)) for _ in sessions]
        for i, goal in goals.items():
            session, pose = sessions[i], commanded[i]
            chunks[i] = phase_chunk(pose[:3], float(pose[3]), goal, session.phase)
        for i, goal in goals.items():
            sessions[i].commanded = np.array([*goal.position_m, goal.yaw_rad])
            sessions[i].phase += 1
        return chunks

    @torch.inference_mode()
    def _keyposes(
        self,
        sessions: Sequence[Session],
        observations: Sequence[Observation],
        tools: NDArray[np.float64],
        commanded: NDArray[np.float64],
    ) -> list[Keypose]:
        """Return where the tools should go in the present phases, all of one kind.

        Args:
            sessions: B of them.
            observations: B.
            tools: [B, 8] proprioception.
            commanded: [B, 4].
        """
        config, network = self.config, self._network
        words = torch.cat([session.words for session in sessions])
        manner = torch.cat([session.manner for session in sessions])
        phase = torch.tensor([session.phase for session in sessions])
        first = sessions[0].phase
        if first in MOVE:
            change, grip = network.move(manner, phase, torch.from_numpy(commanded).float())
            poses, openings = commanded + change.double().numpy(), grip
        else:
            camera, grid = (
                (config.table_camera, config.table) if first in TABLE else (config.tool_camera, config.tool)
            )
            images = np.stack([observation.images_hwc_u8[camera.name] for observation in observations])
            maps = torch.from_numpy(warp(images, grid, camera.calibration, tools[:, [0, 1, 2, 5]]))
            if first in TABLE:
                reading = network.look_at_table(maps, words, manner)
                centres = np.zeros((len(tools), 2))
            else:
                seen = np.stack([tools[:, 2], tools[:, 5], tools[:, 6] + tools[:, 7]], axis=1)
                reading = network.look_at_tool(maps, words, manner, phase, torch.from_numpy(seen).float())
                centres = tools[:, :2]
            xy = reading.xy_m.double().numpy() + centres
            poses = np.column_stack([xy, reading.z_m.double().numpy(), reading.yaw_rad.double().numpy()])
            openings = reading.grip_logit
        goals = []
        for pose, opening in zip(np.clip(poses, config.low, config.high).tolist(), openings, strict=True):
            x, y, z, yaw = pose
            goals.append(Keypose((x, y, z), yaw, float(opening > 0)))
        return goals
