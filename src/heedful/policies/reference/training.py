"""Imitation: demonstrations in, a checkpoint folder out."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from safetensors.torch import save as save_tensors
from torch import Tensor

from heedful.policies.reference import checkpoint
from heedful.policies.reference.config import PolicyConfig, TrainingConfig
from heedful.policies.reference.encoders import vocabulary
from heedful.policies.reference.loss import attention_loss, move_loss, reading_loss, tolerance_m
from heedful.policies.reference.network import MOVE_PHASES, Network
from heedful.policies.reference.samples import Samples, Views, gather
from heedful.spec.codec import digest, to_json
from heedful.spec.contract import Calibration
from heedful.spec.demonstration import Demonstration
from heedful.spec.errors import UserError
from heedful.spec.seeds import generator

MOVES = 128
"""Motor samples a step."""
_WARM_UP = 0.1
_CURVE_EVERY = 10


@dataclass(frozen=True)
class Progress:
    """How far training is: ``step`` of ``steps``, and the smoothed loss."""

    step: int
    steps: int
    loss: float


@dataclass(frozen=True)
class Trained:
    """A finished training.

    Attributes:
        folder: The checkpoint folder; ``reference:FOLDER`` names the policy.
        curve: (step, loss) pairs, the loss averaged since the pair before.
        cpu_s: CPU seconds of this process, over all resumed parts.
        demonstrations: How many it was trained on.
    """

    folder: Path
    curve: tuple[tuple[int, float], ...]
    cpu_s: float
    demonstrations: int


def fit(
    demonstrations: Iterable[Demonstration],
    config: TrainingConfig,
    calibration: Mapping[str, Calibration],
    checkpoint_dir: str | Path,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
) -> Trained:
    """Train a policy on ``demonstrations`` and write it to ``checkpoint_dir``.

    Equal arguments give equal weights on the same machine with the same number of threads.
    A training that was interrupted goes on from its last intermediate checkpoint, to the
    same end; a finished one returns at once.

    Args:
        demonstrations: With keypose and phase annotations and two calibrated cameras; read
            once, one at a time, so that a generator keeps the memory small.
        config: How to train.
        calibration: Camera name -> calibration, from the world's contract.
        checkpoint_dir: Made if it does not exist.
        seed: Of the initial weights and of every draw.
        progress: Called after every step.

    Raises:
        UserError: The demonstrations cannot be learned from, or the folder holds a policy
            trained otherwise.
    """
    started = time.process_time()
    folder = Path(checkpoint_dir)
    samples = gather(demonstrations, calibration)
    table, tool = samples.grids
    table_camera, tool_camera = samples.cameras
    low, high = samples.bounds
    settings = {**to_json(config), "checkpoint_every": 0}
    described = PolicyConfig(
        training=config,
        seed=seed,
        table=table,
        tool=tool,
        table_camera=table_camera,
        tool_camera=tool_camera,
        low=(float(low[0]), float(low[1]), float(low[2]), float(low[3])),
        high=(float(high[0]), float(high[1]), float(high[2]), float(high[3])),
        control_hz=samples.fps,
        demonstrations=len(samples.demo_text),
        fingerprint=digest([samples.fingerprint, settings, seed, [to_json(c) for c in samples.cameras]]),
        vocabulary=vocabulary(samples.texts),
    )
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / checkpoint.CONFIG).exists():
        found, _ = checkpoint.load_config(folder)
        if found.fingerprint != described.fingerprint:
            raise UserError(
                f"{folder} holds a policy trained with other demonstrations, settings or seed; "
                "choose another folder."
            )
        curve = json.loads((folder / checkpoint.CURVE).read_text())
        points = tuple((int(s), float(v)) for s, v in curve["loss"])
        return Trained(folder, points, float(curve["cpu_s"]), found.demonstrations)
    run = _Run(described, samples, folder)
    curve_points, cpu_s = run.train(started, progress)
    return Trained(folder, curve_points, cpu_s, described.demonstrations)


class _Run:
    """One training in progress, at ``step``."""

    def __init__(self, described: PolicyConfig, samples: Samples, folder: Path) -> None:
        self.described, self.samples, self.folder = described, samples, folder
        self.config = described.training
        with torch.random.fork_rng(devices=[]):
            # Layers draw their initial weights from torch's global state; keep ours out of it.
            torch.manual_seed(described.seed)
            self.network: Network = checkpoint.build(described)
        self.network.train()
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), self.config.learning_rate, weight_decay=self.config.weight_decay
        )
        self.prepared = self.network.encoder.prepare(samples.texts)
        self.step = 0
        self.curve: list[tuple[int, float]] = []
        self.cpu_before_s = 0.0
        self._resume()

    def train(
        self, started: float, progress: Callable[[Progress], None] | None
    ) -> tuple[tuple[tuple[int, float], ...], float]:
        """Run the remaining steps and write the checkpoint."""
        steps, since = self.config.steps, []
        while self.step < steps:
            since.append(self._advance())
            self.step += 1
            if self.step % _CURVE_EVERY == 0 or self.step == steps:
                self.curve.append((self.step, float(np.mean(since))))
                since = []
            if progress:
                progress(Progress(self.step, steps, self.curve[-1][1] if self.curve else since[-1]))
            if self.step % self.config.checkpoint_every == 0 and self.step < steps and not since:
                self._save_intermediate(self.cpu_before_s + time.process_time() - started)
        cpu_s = self.cpu_before_s + time.process_time() - started
        checkpoint.write_json(
            self.folder / checkpoint.CURVE, {"loss": self.curve, "cpu_s": cpu_s, "steps": steps}
        )
        checkpoint.save(self.folder, self.described, self.network.state_dict())
        (self.folder / checkpoint.RESUME).unlink(missing_ok=True)
        return tuple(self.curve), cpu_s

    def _advance(self) -> float:
        """Take one optimizer step and return its loss."""
        rng = generator(self.described.seed, "reference", "batch", self.step)
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.learning_rate * one_cycle(self.step, self.config.steps)
        loss = self._loss(rng)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        return float(loss.detach())

    def _loss(self, rng: np.random.Generator) -> Tensor:
        config, samples, network = self.config, self.samples, self.network
        words = network.encoder(self.prepared)
        tolerance = tolerance_m(
            self.step,
            config.steps,
            config.tolerance_start_m,
            config.tolerance_end_m,
            config.tolerance_steps,
        )
        half = max(1, config.batch_size // 2)
        total: Tensor = torch.zeros(())
        for views in (samples.table, samples.tool):
            at = _draw(views, half, rng)
            maps = _recolor(views.maps_u8[at], config.brightness, rng)
            said = words[views.text[at]]
            if views is samples.table:
                maps, moved_m = _shift(maps, config.shift_px, self.described.table.pixel_m, rng)
                label = views.keypose[at, 0].clone()
                label[:, :2] += moved_m
                reading = network.look_at_table(maps, said)
            else:
                # A frame before the descent shows as well where the descent would end.
                phase = torch.from_numpy(rng.integers(1, 3, half))
                label = views.keypose[at, phase].clone()
                tool = views.tool[at]
                label[:, :2] -= tool[:, :2]
                reading = network.look_at_tool(maps, said, phase, tool[:, 2:])
            total = total + 0.3 * attention_loss(reading, label[:, :2], tolerance)
            total = total + reading_loss(reading, label)
        demo = torch.from_numpy(rng.integers(0, len(samples.demo_text), MOVES))
        phase = torch.from_numpy(rng.integers(MOVE_PHASES[0], MOVE_PHASES[-1] + 1, MOVES))
        before, after = samples.demo_keypose[demo, phase - 1], samples.demo_keypose[demo, phase]
        moved, grip = network.move(words[samples.demo_text[demo]], phase, before[:, :4])
        return total + move_loss(moved, grip, after[:, :4] - before[:, :4], after[:, 4])

    def _save_intermediate(self, cpu_s: float) -> None:
        tensors = {f"network.{name}": value for name, value in self.network.state_dict().items()}
        for index, state in self.optimizer.state_dict()["state"].items():
            tensors.update({f"optimizer.{index}.{name}": value for name, value in state.items()})
        about = {
            "step": self.step,
            "curve": self.curve,
            "cpu_s": cpu_s,
            "fingerprint": self.described.fingerprint,
        }
        content = save_tensors(
            {name: value.contiguous() for name, value in tensors.items()}, {"about": json.dumps(about)}
        )
        checkpoint.write(self.folder / checkpoint.RESUME, content)

    def _resume(self) -> None:
        path = self.folder / checkpoint.RESUME
        if not path.exists():
            return
        try:
            with safe_open(path, framework="pt") as file:
                about = json.loads(file.metadata()["about"])
            tensors = load_file(path)
        except (SafetensorError, KeyError, ValueError) as error:
            raise UserError(f"{path} is damaged; delete it to train from the start.") from error
        if about["fingerprint"] != self.described.fingerprint:
            raise UserError(
                f"{path} belongs to a training with other demonstrations, settings or seed; "
                "choose another folder or delete it."
            )
        self.network.load_state_dict(
            {k.removeprefix("network."): v for k, v in tensors.items() if k.startswith("network.")}
        )
        state: dict[int, dict[str, Tensor]] = {}
        for key, value in tensors.items():
            if key.startswith("optimizer."):
                _, index, name = key.split(".", 2)
                state.setdefault(int(index), {})[name] = value
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": state})
        self.step, self.cpu_before_s = int(about["step"]), float(about["cpu_s"])
        self.curve = [(int(s), float(v)) for s, v in about["curve"]]


def one_cycle(step: int, steps: int) -> float:
    """Return the share of the peak learning rate: a linear rise, then half a cosine down."""
    rise = max(1.0, _WARM_UP * steps)
    if step < rise:
        return 0.04 + 0.96 * step / rise
    return 0.5 * (1 + math.cos(math.pi * (step - rise) / max(1.0, steps - rise)))


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
