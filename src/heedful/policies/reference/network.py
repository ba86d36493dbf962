"""The network: two map readers that look, and a motor head that does not.

The instruction decides where: its words ask the map. How it is done there is one of the ways
that were taught: ``manner`` is the vector of the taught instruction nearest to the words, in
training the words themselves. A contradictory instruction thus leads to one place and one
verb, never to something between two.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.policies.reference.config import EncoderName, MapGrid
from heedful.policies.reference.encoders import TextEncoder
from heedful.policies.reference.maps import CELL, cell_centres_m

LOOK_PHASES = (0, 1, 2)
"""Phases whose keypose is read off a map: 0 off the table's, 1 and 2 off the tool's."""
MOVE_PHASES = (3, 4)
"""Phases whose keypose is a movement from the commanded pose: close and act."""

CHANNELS = 32
PATCH = 3
XY_UNIT_M, Z_UNIT_M, YAW_UNIT_RAD = 0.1, 0.05, 0.4
"""What one unit of the regressed numbers is."""


class Reading(NamedTuple):
    """What a reader read off a map.

    Attributes:
        log_attention: [B, N] log probability of each cell to be the one that is meant.
        cell: [B] the most probable cell; everything else is read there, in training too.
        cells_m: [N, 2] the cells' centres.
        offset_m: [B, 2] from the meant place to the keypose, said by the words alone.
        residual_m: [B, 2] correction read off the pixels around the cell.
        z_m, yaw_rad, grip_logit: [B].
    """

    log_attention: Tensor
    cell: Tensor
    cells_m: Tensor
    offset_m: Tensor
    residual_m: Tensor
    z_m: Tensor
    yaw_rad: Tensor
    grip_logit: Tensor

    @property
    def xy_m(self) -> Tensor:
        """The keypose's x, y, [B, 2], in the map's frame."""
        return self.cells_m[self.cell] + self.offset_m + self.residual_m


class MapReader(nn.Module):
    """Words and a map -> the place that is meant, and the keypose there.

    The words ask with a query; every cell answers with its features; the best cell wins
    outright, so that two objects are never averaged.

    Args:
        grid: The map.
        words_size: Length of the instruction vector.
        context_size: Length of the numbers that come with it (phase, tool).
    """

    cells_m: Tensor
    places: Tensor

    def __init__(self, grid: MapGrid, words_size: int, context_size: int) -> None:
        super().__init__()
        told = words_size + context_size
        self.rows, self.columns = grid.rows // CELL, grid.columns // CELL
        self.first = nn.Conv2d(3, 16, 5, 2, 2)
        self.second = nn.Conv2d(16, CHANNELS, 3, 2, 1)
        self.third = nn.Conv2d(CHANNELS, CHANNELS, 3, 1, 1)
        self.second_norm = nn.GroupNorm(4, CHANNELS)
        self.third_norm = nn.GroupNorm(4, CHANNELS)
        self.around = nn.Conv2d(CHANNELS, CHANNELS, 3, 1, 2, dilation=2)
        self.around_norm = nn.GroupNorm(4, CHANNELS)
        self.key = nn.Conv2d(CHANNELS + 5, CHANNELS, 1)
        self.query = nn.Sequential(nn.Linear(told, 64), nn.ReLU(), nn.Linear(64, CHANNELS))
        self.offset = nn.Sequential(nn.Linear(told, 64), nn.ReLU(), nn.Linear(64, 2))
        self.read = nn.Sequential(
            nn.Linear(PATCH * PATCH * CHANNELS + 2 + told, 160),
            nn.ReLU(),
            nn.Linear(160, 160),
            nn.ReLU(),
            nn.Linear(160, 5),
        )
        for name, parameter in self.named_parameters():
            if name.startswith(("offset.2.", "read.4.")):
                nn.init.zeros_(parameter)  # begin at the cell itself
        centres = cell_centres_m(grid)
        middle = (centres.amin(0) + centres.amax(0)) / 2
        x, y = ((centres - middle) / (centres - middle).abs().amax(0)).unbind(1)
        places = torch.stack([x, y, x * x, y * y, x * y]).reshape(5, self.rows, self.columns)
        self.register_buffer("cells_m", centres, persistent=False)
        self.register_buffer("places", places, persistent=False)

    def features(self, maps_u8: Tensor) -> Tensor:
        """Return the features [B, C, rows / 4, columns / 4] of maps uint8 [B, 3, rows, columns]."""
        x = maps_u8.float().div(127.5).sub(1.0)
        x = F.relu(self.first(x))
        x = F.relu(self.second_norm(self.second(x)))
        x = F.relu(self.third_norm(self.third(x)))
        return x + F.relu(self.around_norm(self.around(x)))

    def forward(self, maps: Tensor, words: Tensor, manner: Tensor, context: Tensor) -> Reading:
        """Return the reading of maps [B, 3, H, W].

        Args:
            maps: B maps.
            words: [B, W] the instruction; it decides which place is meant.
            manner: [B, W] the taught instruction whose way of doing is followed there.
            context: [B, C].
        """
        asked, told = torch.cat([words, context], 1), torch.cat([manner, context], 1)
        features = self.features(maps)
        batch = len(features)
        places = self.places.expand(batch, -1, -1, -1)
        keys = self.key(torch.cat([features, places], 1)).flatten(2)
        logits = torch.einsum("bc,bcn->bn", self.query(asked), keys) * (4.0 / CHANNELS**0.5)
        cell = logits.argmax(1)
        row, column = cell // self.columns, cell % self.columns
        padded = F.pad(features, (PATCH // 2,) * 4)
        reach = torch.arange(PATCH)
        patch = padded[
            torch.arange(batch)[:, None, None],
            :,
            (row[:, None] + reach)[:, :, None],
            (column[:, None] + reach)[:, None, :],
        ]
        here = self.places[:2].flatten(1).T[cell]
        out = self.read(torch.cat([patch.flatten(1), here, told], 1))
        return Reading(
            log_attention=logits.log_softmax(1),
            cell=cell,
            cells_m=self.cells_m,
            offset_m=self.offset(told) * XY_UNIT_M,
            residual_m=out[:, :2] * XY_UNIT_M,
            z_m=out[:, 2] * Z_UNIT_M,
            yaw_rad=out[:, 3] * YAW_UNIT_RAD,
            grip_logit=out[:, 4],
        )


class Network(nn.Module):
    """The whole policy but for the warping of images and the execution of keyposes."""

    def __init__(
        self,
        encoder: EncoderName,
        vocabulary: tuple[str, ...],
        words_size: int,
        table: MapGrid,
        tool: MapGrid,
    ) -> None:
        super().__init__()
        self.encoder = TextEncoder(encoder, vocabulary, words_size)
        self.table = MapReader(table, words_size, 0)
        self.tool = MapReader(tool, words_size, 2 + 3)
        self.motor = nn.Sequential(
            nn.Linear(words_size + len(MOVE_PHASES) + 4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU()
        )
        self.move_out = nn.Linear(64, 5)

    def look_at_table(self, maps: Tensor, words: Tensor, manner: Tensor) -> Reading:
        """Read the keypose of phase 0 off the table map; x, y in the world frame."""
        reading: Reading = self.table(maps, words, manner, words.new_zeros(len(words), 0))
        return reading

    def look_at_tool(
        self, maps: Tensor, words: Tensor, manner: Tensor, phase: Tensor, tool: Tensor
    ) -> Reading:
        """Read the keypose of phase 1 or 2 off the tool map; x, y relative to the tool.

        Args:
            maps: uint8 [B, 3, rows, columns].
            words: [B, W].
            manner: [B, W].
            phase: [B] 1 or 2.
            tool: [B, 3] height of the tool in m, yaw in rad, opening of the gripper in m.
        """
        one_hot = F.one_hot(phase - 1, 2).float()
        scaled = tool / tool.new_tensor([0.1, YAW_UNIT_RAD, 0.04])
        reading: Reading = self.tool(maps, words, manner, torch.cat([one_hot, scaled], 1))
        return reading

    def move(self, manner: Tensor, phase: Tensor, pose: Tensor) -> tuple[Tensor, Tensor]:
        """Return the movement of phase 3 or 4 and the gripper's logit.

        Args:
            manner: [B, W].
            phase: [B] 3 or 4.
            pose: [B, 4] commanded x, y, z (m) and yaw (rad).

        Returns:
            [B, 4] change of x, y, z (m) and yaw (rad); [B] logit of an open gripper.
        """
        one_hot = F.one_hot(phase - MOVE_PHASES[0], len(MOVE_PHASES)).float()
        scaled = (pose - pose.new_tensor([0.45, 0.0, 0.05, 0.0])) / pose.new_tensor([0.3, 0.3, 0.2, 1.0])
        out = self.move_out(self.motor(torch.cat([manner, one_hot, scaled], 1)))
        return out[:, :4] * out.new_tensor([XY_UNIT_M, XY_UNIT_M, XY_UNIT_M, 1.0]), out[:, 4]


def nearest(words: Tensor, taught: Tensor) -> Tensor:
    """Return for each of words [B, W] the nearest of the taught instructions [N, W]."""
    return taught[torch.cdist(words, taught).argmin(1)]
