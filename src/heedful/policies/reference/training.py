"""Imitation: demonstrations in, a checkpoint folder out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from heedful.policies.reference import checkpoint
from heedful.policies.reference.config import PolicyConfig, TrainingConfig
from heedful.policies.reference.encoders import vocabulary
from heedful.policies.reference.learner import Learner, about
from heedful.policies.reference.samples import Samples, gather
from heedful.spec.codec import digest, to_json
from heedful.spec.contract import Calibration
from heedful.spec.demonstration import Demonstration
from heedful.spec.errors import UserError

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
    described = _described(samples, config, seed)
    if (folder / checkpoint.CONFIG).exists():
        return _finished(folder, described)
    folder.mkdir(parents=True, exist_ok=True)
    learner = Learner(described, samples)
    log = _resumed(learner, folder / checkpoint.RESUME, described)
    before_s = log.cpu_s
    while learner.step < config.steps:
        log.add(learner.advance(), learner.step, config.steps)
        log.cpu_s = before_s + time.process_time() - started
        if progress:
            progress(Progress(learner.step, config.steps, log.loss))
        if learner.step % config.checkpoint_every == 0 and learner.step < config.steps:
            said = {**log.as_json(), "fingerprint": described.fingerprint}
            checkpoint.write(folder / checkpoint.RESUME, learner.state(said))
    checkpoint.write_json(folder / checkpoint.CURVE, {**log.as_json(), "steps": config.steps})
    checkpoint.save(folder, described, learner.network.state_dict())
    (folder / checkpoint.RESUME).unlink(missing_ok=True)
    return Trained(folder, tuple(log.curve), log.cpu_s, described.demonstrations)


@dataclass
class _Log:
    """The loss curve so far, the losses since its last point, and the CPU time."""

    curve: list[tuple[int, float]] = field(default_factory=list)
    since: list[float] = field(default_factory=list)
    cpu_s: float = 0.0

    def add(self, loss: float, step: int, steps: int) -> None:
        self.since.append(loss)
        if step % _CURVE_EVERY == 0 or step == steps:
            self.curve.append((step, float(np.mean(self.since))))
            self.since = []

    @property
    def loss(self) -> float:
        return self.curve[-1][1] if self.curve else float(np.mean(self.since))

    def as_json(self) -> dict[str, object]:
        return {"loss": self.curve, "since": self.since, "cpu_s": self.cpu_s}

    @staticmethod
    def from_json(data: Mapping[str, list[tuple[int, float]]]) -> _Log:
        """Return the log that ``as_json`` gave; ``KeyError``, ``TypeError`` or ``ValueError`` if damaged."""
        curve = [(int(step), float(loss)) for step, loss in data["loss"]]
        return _Log(curve, [float(loss) for loss in data["since"]], float(data["cpu_s"]))  # type: ignore[arg-type]


def _described(samples: Samples, config: TrainingConfig, seed: int) -> PolicyConfig:
    """Return everything about the policy but its weights."""
    low, high = samples.bounds
    settings = {**to_json(config), "checkpoint_every": 0}
    return PolicyConfig(
        training=config,
        seed=seed,
        table=samples.grids[0],
        tool=samples.grids[1],
        table_camera=samples.cameras[0],
        tool_camera=samples.cameras[1],
        low=(float(low[0]), float(low[1]), float(low[2]), float(low[3])),
        high=(float(high[0]), float(high[1]), float(high[2]), float(high[3])),
        control_hz=samples.fps,
        demonstrations=len(samples.demo_text),
        fingerprint=digest([samples.fingerprint, settings, seed, [to_json(c) for c in samples.cameras]]),
        taught=samples.texts,
        vocabulary=vocabulary(samples.texts),
    )


def _finished(folder: Path, described: PolicyConfig) -> Trained:
    """Return the training that ``folder`` holds, if it is the one described."""
    found, _ = checkpoint.load_config(folder)
    if found.fingerprint != described.fingerprint:
        raise UserError(
            f"{folder} holds a policy trained with other demonstrations, settings or seed; "
            "choose another folder."
        )
    try:
        log = _Log.from_json(json.loads((folder / checkpoint.CURVE).read_text()))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"Checkpoint {folder}: {checkpoint.CURVE} is missing or damaged.") from error
    return Trained(folder, tuple(log.curve), log.cpu_s, found.demonstrations)


def _resumed(learner: Learner, path: Path, described: PolicyConfig) -> _Log:
    """Bring ``learner`` to the intermediate checkpoint at ``path``, if there is one."""
    if not path.exists():
        return _Log()
    broken = UserError(f"{path} is damaged; delete it to train from the start.")
    try:
        content = path.read_bytes()
        said = about(content)
        fingerprint, log = said["fingerprint"], _Log.from_json(said)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise broken from error
    if fingerprint != described.fingerprint:
        raise UserError(
            f"{path} belongs to a training with other demonstrations, settings or seed; "
            "choose another folder or delete it."
        )
    try:
        learner.restore(content)
    except ValueError as error:
        raise broken from error
    return log
