"""The loss of one random batch, with the augmentations that few demonstrations need."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from heedful.policies.reference.config import TrainingConfig
from heedful.policies.reference.loss import attention_loss, move_loss, reading_loss, tolerance_m
from heedful.policies.reference.network import LOOK_PHASES, MOVE_PHASES, Network
from heedful.policies.reference.samples import Samples, Views

MOVES = 128
"""Motor samples a batch."""
_ATTENTION_SHARE = 0.3


def batch_loss(
    network: Network,
    samples: Samples,
    prepared: Tensor,
    config: TrainingConfig,
    step: int,
    rng: np.random.Generator,
) -> Tensor:
    """Return the loss of a random batch: table views, tool views and movements.

    Args:
        network: The policy.
        samples: What to draw from.
        prepared: ``network.encoder.prepare(samples.texts)``.
        config: How to train.
        step: Optimizer steps taken so far; the tolerance narrows with it.
        rng: Decides the batch.
    """
    words = network.encoder(prepared)
    tolerance = tolerance_m(
        step, config.steps, config.tolerance_start_m, config.tolerance_end_m, config.tolerance_steps
    )
    half = max(1, config.batch_size // 2)
    at = _draw(samples.table, half, rng)
    maps = _recolor(samples.table.maps_u8[at], config.brightness, rng)
    maps, moved_m = _shift(maps, config.shift_px, samples.grids[0].pixel_m, rng)
    table_label = samples.table.keypose[at, 0].clone()
    table_label[:, :2] += moved_m
    said = words[samples.table.text[at]]
    table = network.look_at_table(maps, said, said)

    at = _draw(samples.tool, half, rng)
    # A frame before the descent shows as well where the descent would end.
    phase = torch.from_numpy(rng.integers(LOOK_PHASES[1], LOOK_PHASES[-1] + 1, half))
    tool_label = samples.tool.keypose[at, phase].clone()
    tool_label[:, :2] -= samples.tool.tool[at, :2]
    maps = _recolor(samples.tool.maps_u8[at], config.brightness, rng)
    said = words[samples.tool.text[at]]
    tool = network.look_at_tool(maps, said, said, phase, samples.tool.tool[at, 2:])

    demo = torch.from_numpy(rng.integers(0, len(samples.demo_text), MOVES))
    phase = torch.from_numpy(rng.integers(MOVE_PHASES[0], MOVE_PHASES[-1] + 1, MOVES))
    before, after = samples.demo_keypose[demo, phase - 1], samples.demo_keypose[demo, phase]
    moved, grip = network.move(words[samples.demo_text[demo]], phase, before[:, :4])

    loss = move_loss(moved, grip, after[:, :4] - before[:, :4], after[:, 4])
    for reading, label in ((table, table_label), (tool, tool_label)):
        loss = loss + _ATTENTION_SHARE * attention_loss(reading, label[:, :2], tolerance)
        loss = loss + reading_loss(reading, label)
    return loss


def _draw(views: Views, count: int, rng: np.random.Generator) -> Tensor:
    weight = views.weight.numpy()
    return torch.from_numpy(rng.choice(len(weight), count, p=weight / weight.sum()))


def _recolor(maps_u8: Tensor, deviation: float, rng: np.random.Generator) -> Tensor:
    """Return the maps as float 0..255, each color channel with a random gain."""
    gain = torch.from_numpy(rng.normal(1.0, deviation, (len(maps_u8), 3, 1, 1))).float()
    return (maps_u8.float() * gain).clamp(0, 255)


def _shift(maps: Tensor, most_px: int, pixel_m: float, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Return the maps, each shifted along x and y, and by how much (m), [B, 2]."""
    rows, columns = maps.shape[2:]
    padded = F.pad(maps, (most_px,) * 4)
    start = rng.integers(0, 2 * most_px + 1, (len(maps), 2))
    shifted = [m[:, i : i + rows, j : j + columns] for m, (i, j) in zip(padded, start.tolist(), strict=True)]
    return torch.stack(shifted), torch.from_numpy((most_px - start) * pixel_m).float()
