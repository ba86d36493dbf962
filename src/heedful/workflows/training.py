"""Policies from datasets; several are trained side by side, one thread each."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from heedful.spec.errors import UserError, unknown
from heedful.spec.progress import Progress, silent

RECIPES = ("reference",)
"""Kinds of policy that heedful can train."""

_TRAINED_ON = "trained_on.json"
_SAID_EVERY = 10
_LOOK_EVERY_S = 1.0


@dataclass(frozen=True)
class TrainingJob:
    """One policy to train.

    Attributes:
        data: Dataset folder.
        out: Checkpoint folder.
        encoder: Text encoder of the reference policy.
        seed: Training seed.
        steps: Optimizer steps; ``None``: the recipe's own number.
    """

    data: Path
    out: Path
    encoder: str = "minilm"
    seed: int = 0
    steps: int | None = None


@dataclass(frozen=True)
class TrainingSummary:
    """A trained policy.

    Attributes:
        ref: How to name it on the command line.
        cpu_s: CPU seconds its training took, interrupted parts included.
        loss: The last point of its training curve.
        demonstrations: How many it was trained on.
    """

    ref: str
    cpu_s: float
    loss: float
    demonstrations: int


def train(
    kind: str,
    data: Path,
    out: Path,
    encoder: str = "minilm",
    seed: int = 0,
    steps: int | None = None,
    progress: Progress = silent,
) -> TrainingSummary:
    """Train one policy; an unfinished training goes on, a finished one is returned.

    Raises:
        UserError: Unknown kind or encoder, a dataset that cannot be learned from, or another
            policy in ``out``.
    """
    if kind not in RECIPES:
        raise unknown("policy recipe", kind, RECIPES)
    return train_all([TrainingJob(data, out, encoder, seed, steps)], 1, progress)[0]


def train_all(
    jobs: Sequence[TrainingJob], workers: int = 2, progress: Progress = silent, stage: str = "train"
) -> list[TrainingSummary]:
    """Train every job, ``workers`` at a time, and return their summaries in order."""
    from heedful.rollouts.pool import Pool

    for job in jobs:
        if not job.data.is_dir():
            raise UserError(f"There is no dataset at {job.data}; `heedful collect` makes one.")
    found = {job.out: _finished(job) for job in jobs}
    left = [job for job in jobs if found[job.out] is None]
    with _watched(left, progress, stage):
        trained = Pool(min(workers, max(len(left), 1))).map(_train, left)
    found.update({job.out: summary for job, summary in zip(left, trained, strict=True)})
    return [summary for job in jobs if (summary := found[job.out]) is not None]


def _finished(job: TrainingJob) -> TrainingSummary | None:
    """Return the training that ``job.out`` holds if it is this one; the dataset is not loaded for it.

    Anything else returns ``None``: then the recipe itself looks closer, and refuses what does
    not fit.
    """
    try:
        trained_on = json.loads((job.out / _TRAINED_ON).read_text())
        config = json.loads((job.out / "policy.json").read_text())
        curve = json.loads((job.out / "training.json").read_text())
        same = (
            trained_on == _identity(job)
            and config["training"]["encoder"] == job.encoder
            and config["seed"] == job.seed
            and config["training"]["steps"] == (job.steps or config["training"]["steps"])
        )
        summary = TrainingSummary(
            f"reference:{job.out}", curve["cpu_s"], curve["loss"][-1][1], config["demonstrations"]
        )
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
    return summary if same else None


def _identity(job: TrainingJob) -> dict[str, str]:
    """Return what tells the dataset of ``job`` from any other: the digests of all its files."""
    notes = job.data / "meta" / "heedful.json"
    return {"dataset": hashlib.sha256(notes.read_bytes()).hexdigest()}


def _train(job: TrainingJob) -> TrainingSummary:
    """Train one policy; runs in a worker process, where torch may be imported."""
    import torch

    from heedful.policies.reference import TrainingConfig
    from heedful.policies.reference.training import Progress as Step
    from heedful.policies.reference.training import fit
    from heedful.spec.plugins import load as load_plugin
    from heedful.store.datasets import load_demonstrations

    torch.set_num_threads(1)
    defaults = TrainingConfig()
    config = TrainingConfig(
        encoder=job.encoder,  # type: ignore[arg-type]  # checked by the config itself
        steps=defaults.steps if job.steps is None else job.steps,
    )
    world = load_plugin("heedful.worlds", "tabletop")()
    said = _said(job)

    def tell(step: Step) -> None:
        if step.step % _SAID_EVERY == 0 or step.step == step.steps:
            said.parent.mkdir(parents=True, exist_ok=True)
            said.write_text(json.dumps([step.step, step.steps, step.loss]))

    trained = fit(load_demonstrations(job.data), config, world.contract.calibration, job.out, job.seed, tell)
    said.unlink(missing_ok=True)
    (job.out / _TRAINED_ON).write_text(json.dumps(_identity(job)))
    return TrainingSummary(
        ref=f"reference:{job.out}",
        cpu_s=trained.cpu_s,
        loss=trained.curve[-1][1],
        demonstrations=trained.demonstrations,
    )


def _said(job: TrainingJob) -> Path:
    """Return the file in which a worker says how far its training is."""
    return job.out / ".progress.json"


@contextmanager
def _watched(jobs: Sequence[TrainingJob], progress: Progress, stage: str) -> Iterator[None]:
    """Pass on, once a second, what the workers say of their trainings."""
    over = threading.Event()

    def watch() -> None:
        last: dict[Path, tuple[int, int, float]] = {}
        while not over.wait(_LOOK_EVERY_S):
            for job in jobs:
                with suppress(OSError, ValueError, TypeError):  # not written yet, or half written
                    step, steps, loss = json.loads(_said(job).read_text())
                    last[job.out] = (int(step), int(steps), float(loss))
            if last:
                steps = max(total for _, total, _ in last.values())
                done = sum(step for step, _, _ in last.values())
                note = f"loss {min(loss for _, _, loss in last.values()):.3f}"
                progress(stage, min(done, steps * len(jobs)), steps * len(jobs), note)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
