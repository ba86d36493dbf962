"""What can be chosen for the reference policy, and what a checkpoint remembers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from heedful.spec.contract import Calibration
from heedful.spec.errors import UserError, unknown

EncoderName = Literal["minilm", "mean", "gru", "gru_reversed"]
ENCODERS: tuple[EncoderName, ...] = ("minilm", "mean", "gru", "gru_reversed")
"""minilm: frozen sentence embedding. mean: mean of learned tokens. gru: a recurrent network
over learned tokens, the last word weighing most. gru_reversed: the same, last word first."""

VERSION = 2
"""Version of the checkpoint's files."""


@dataclass(frozen=True)
class TrainingConfig:
    """How to train; one set of values serves every pair of factors.

    Attributes:
        encoder: Text encoder, one of ``ENCODERS``.
        steps: Optimizer steps.
        batch_size: Images a step, half of them from each camera.
        learning_rate: Peak of the one-cycle schedule.
        weight_decay: AdamW's.
        words_size: Length of the instruction vector.
        tolerance_start_m, tolerance_end_m: Standard deviation of the attended place around
            the labelled one, narrowed over the first ``tolerance_steps`` of training.
        tolerance_steps: Fraction of the steps over which it narrows.
        shift_px: Table maps are shifted by up to this many pixels along each side, their
            labels with them: few demonstrations show few places.
        brightness: Standard deviation of the random gain of each color channel.
        checkpoint_every: Steps between intermediate checkpoints.
    """

    __pydantic_config__: ClassVar[Mapping[str, object]] = {"extra": "forbid"}

    encoder: EncoderName = "minilm"
    steps: int = 1500
    batch_size: int = 64
    learning_rate: float = 2e-3
    weight_decay: float = 1e-2
    words_size: int = 32
    tolerance_start_m: float = 0.05
    tolerance_end_m: float = 0.01
    tolerance_steps: float = 0.5
    shift_px: int = 10
    brightness: float = 0.04
    checkpoint_every: int = 100

    def __post_init__(self) -> None:
        if self.encoder not in ENCODERS:
            raise unknown("text encoder", self.encoder, ENCODERS)
        for name in ("steps", "batch_size", "checkpoint_every", "words_size"):
            if getattr(self, name) < 1:
                raise UserError(f"Training: {name} is {getattr(self, name)}; it must be at least 1.")


@dataclass(frozen=True)
class MapGrid:
    """A rectangle of the table plane, cut into square pixels.

    Attributes:
        x_m, y_m: Its corner with the smallest x and y; relative to the tool for a map that
            moves with the tool.
        rows: Pixels along x, a multiple of 4.
        columns: Pixels along y, a multiple of 4.
        pixel_m: Side of a pixel.
        plane_m: Height of the plane above the table.
    """

    x_m: float
    y_m: float
    rows: int
    columns: int
    pixel_m: float
    plane_m: float = 0.02


@dataclass(frozen=True)
class CameraSetup:
    """A camera as the policy was trained with it."""

    name: str
    height_px: int
    width_px: int
    calibration: Calibration


@dataclass(frozen=True)
class PolicyConfig:
    """Everything but the weights.

    Attributes:
        training: How it was trained.
        seed: Training seed.
        table, tool: The maps of the fixed and of the wrist camera.
        table_camera, tool_camera: The cameras behind them.
        low, high: [4] bounds of the labelled x, y, z (m) and yaw (rad), with a margin;
            predictions are clipped to them.
        vocabulary: Words known to learned token encoders.
        taught: The instructions of the demonstrations.
        control_hz: The rate of the demonstrations.
        demonstrations: How many it was trained on.
        fingerprint: Digest of the demonstrations' labels and of ``training``.
    """

    training: TrainingConfig
    seed: int
    table: MapGrid
    tool: MapGrid
    table_camera: CameraSetup
    tool_camera: CameraSetup
    low: tuple[float, float, float, float]
    high: tuple[float, float, float, float]
    control_hz: float
    demonstrations: int
    fingerprint: str
    taught: tuple[str, ...]
    vocabulary: tuple[str, ...] = field(default_factory=tuple)
    version: int = VERSION
