"""What training minimises: one loss for each of the two maps and one for the motor head."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from heedful.policies.reference.network import XY_UNIT_M, YAW_UNIT_RAD, Z_UNIT_M, Reading

NEAR_M = 0.05
"""A reading further than this from the label meant another place: only its attention learns."""
_BETA = 0.05
_GRIP_SHARE = 0.1


def attention_loss(reading: Reading, xy_m: Tensor, tolerance_m: float) -> Tensor:
    """Return the mean negative log likelihood of the labelled place.

    The keypose lies near (meant place + offset said by the words), the meant place being
    unknown: p(xy) = sum over cells a(cell) Normal(xy; cell + offset, tolerance). So the
    attention settles on what can be recognised (the object), and the offset on what the
    verb adds (behind it, for a push), without either being labelled.

    Args:
        reading: B readings.
        xy_m: [B, 2] labelled x, y in the map's frame.
        tolerance_m: Standard deviation.
    """
    gap = xy_m[:, None] - reading.offset_m[:, None] - reading.cells_m[None]
    log_normal = -(gap**2).sum(-1) / (2 * tolerance_m**2)
    return -torch.logsumexp(reading.log_attention + log_normal, 1).mean()


def reading_loss(reading: Reading, label: Tensor) -> Tensor:
    """Return the mean error of keyposes read at the chosen cell.

    Args:
        reading: B readings.
        label: [B, 5] x, y in the map's frame, z (m), yaw (rad), gripper (0..1).
    """
    place = reading.cells_m[reading.cell] + reading.offset_m
    near = ((place - label[:, :2]).norm(dim=1) < NEAR_M).detach().float()
    xy = F.smooth_l1_loss(reading.xy_m / XY_UNIT_M, label[:, :2] / XY_UNIT_M, reduction="none", beta=_BETA)
    z = F.smooth_l1_loss(reading.z_m / Z_UNIT_M, label[:, 2] / Z_UNIT_M, reduction="none", beta=_BETA)
    yaw = F.smooth_l1_loss(
        reading.yaw_rad / YAW_UNIT_RAD, label[:, 3] / YAW_UNIT_RAD, reduction="none", beta=_BETA
    )
    grip = F.binary_cross_entropy_with_logits(reading.grip_logit, label[:, 4], reduction="none")
    mean: Tensor = ((xy.sum(1) + z + yaw + _GRIP_SHARE * grip) * near).mean()
    return mean


def move_loss(moved: Tensor, grip_logit: Tensor, change: Tensor, gripper: Tensor) -> Tensor:
    """Return the mean error of the motor head.

    Args:
        moved: [B, 4] predicted change of x, y, z (m), yaw (rad).
        grip_logit: [B] predicted logit of an open gripper.
        change: [B, 4] labelled change.
        gripper: [B] labelled opening 0..1.
    """
    unit = change.new_tensor([XY_UNIT_M, XY_UNIT_M, XY_UNIT_M, 1.0])
    pose = F.smooth_l1_loss(moved / unit, change / unit, beta=_BETA)
    return 4 * pose + _GRIP_SHARE * F.binary_cross_entropy_with_logits(grip_logit, gripper)


def tolerance_m(step: int, steps: int, start_m: float, end_m: float, share: float) -> float:
    """Return the tolerance at ``step``: from start to end, geometrically, over ``share`` of the steps."""
    done = min(1.0, step / max(1.0, share * steps))
    return math.exp((1 - done) * math.log(start_m) + done * math.log(end_m))
