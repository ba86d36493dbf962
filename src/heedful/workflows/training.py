"""Policies from datasets; several are trained side by side, one thread each."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.spec.errors import UserError, unknown
from heedful.spec.progress import Progress, silent
from heedful.store.disk import disk_errors, write_atomically
from heedful.store.process_lock import ProcessLock

if TYPE_CHECKING:
    from heedful.policies.reference import TrainingConfig
    from heedful.spec.demonstration import Demonstration

RECIPES = ("reference",)
"""Kinds of policy that heedful can train."""

_TRAINED_ON = "trained_on.json"
_PROGRESS = ".progress.json"
_LOCK = ".lock"
_CHECKPOINT = ("policy.json", "weights.safetensors", "training.json", "resume.safetensors")
_OWN = (*_CHECKPOINT, _TRAINED_ON, _PROGRESS, _LOCK)
_TEMPORARY = re.compile(rf"\.({'|'.join(map(re.escape, (*_CHECKPOINT, _TRAINED_ON)))})\.\d+(\.tmp)?")
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
    """Train every job, ``workers`` at a time, and return their summaries in order.

    Raises:
        UserError: See ``check_job``; or a dataset is missing or damaged, a folder is in use by
            another training, or the disk refuses.
    """
    from heedful.rollouts.pool import Pool

    for job in jobs:
        check_job(job)
        if not job.data.is_dir():
            raise UserError(f"There is no dataset at {job.data}; `heedful collect` makes one.")
    found = {job.out: _finished(job) for job in jobs}
    left = [job for job in dict.fromkeys(jobs) if found[job.out] is None]
    for data in dict.fromkeys(job.data for job in left):
        _check_data(data)
    with ExitStack() as held, _watched(left, progress, stage):
        for job in left:
            held.callback(_locked(job.out).release)
        trained = Pool(min(workers, max(len(left), 1))).map(_train, left)
    found.update({job.out: summary for job, summary in zip(left, trained, strict=True)})
    return [summary for job in jobs if (summary := found[job.out]) is not None]


def check_job(job: TrainingJob) -> None:
    """Check what can be checked of ``job`` before anything is computed; nothing is written.

    Raises:
        UserError: Unknown encoder, a step count or seed that cannot be, or ``out`` is a file
            or holds anything but a policy.
    """
    _config(job)
    if job.seed < 0:
        raise UserError(f"The training seed is {job.seed}; it must be at least 0.")
    if job.out.is_dir():
        with disk_errors(job.out):
            names = sorted(entry.name for entry in job.out.iterdir())
        other = [name for name in names if name not in _OWN and not _TEMPORARY.fullmatch(name)]
        if other:
            raise UserError(
                f"{job.out} is no policy's folder and is not empty ({other[0]}); choose another folder."
            )
    elif job.out.exists():
        raise UserError(f"{job.out} is a file; a policy needs a folder of its own.")


def _config(job: TrainingJob) -> TrainingConfig:
    """Return the recipe's settings for ``job``; refuses values that cannot be."""
    from heedful.policies.reference import TrainingConfig

    return TrainingConfig(
        encoder=job.encoder,  # type: ignore[arg-type]  # checked by the config itself
        steps=TrainingConfig.steps if job.steps is None else job.steps,
    )


def _check_data(data: Path) -> None:
    """Refuse a dataset that is damaged, was edited, or is not of heedful's making."""
    from heedful.store.datasets import check_dataset

    if (data / "meta" / "info.json").is_file() and not _notes(data).is_file():
        raise UserError(f"{_notes(data)} is missing; train on a dataset as `heedful collect` writes it.")
    try:
        check_dataset(data)
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise UserError(f"The dataset {data} is damaged: {' '.join(str(error).split())}.") from error


def _locked(out: Path) -> ProcessLock:
    """Make the folder ``out``, take it for this process, and remove what killed writers left there."""
    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    lock = ProcessLock(out, _LOCK)
    for entry in out.iterdir():
        if _TEMPORARY.fullmatch(entry.name):
            entry.unlink(missing_ok=True)
    return lock


def _finished(job: TrainingJob) -> TrainingSummary | None:
    """Return the training that ``job.out`` holds, ``None`` if there is none; no demonstration is loaded.

    Raises:
        UserError: It holds another one; every difference is named.
    """
    try:
        trained_on = json.loads((job.out / _TRAINED_ON).read_text())
        config = json.loads((job.out / "policy.json").read_text())
        curve = json.loads((job.out / "training.json").read_text())
        held = {"encoder": config["training"]["encoder"], "seed": config["seed"]}
        held |= {"steps": config["training"]["steps"], **trained_on}
        summary = TrainingSummary(
            f"reference:{job.out}", curve["cpu_s"], curve["loss"][-1][1], config["demonstrations"]
        )
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None  # unfinished or damaged: the recipe itself looks closer
    asked = {"encoder": job.encoder, "seed": job.seed, "steps": _config(job).steps, **_identity(job)}
    differ = [
        "other demonstrations" if key == "dataset" else f"{key} {held.get(key)}, not {value}"
        for key, value in asked.items()
        if held.get(key) != value
    ]
    if differ:
        raise UserError(f"{job.out} holds a policy trained with {'; '.join(differ)}. Choose another folder.")
    return summary


def _identity(job: TrainingJob) -> dict[str, str]:
    """Return what tells the dataset of ``job`` from any other: the digests of all its files."""
    return {"dataset": hashlib.sha256(_notes(job.data).read_bytes()).hexdigest()}


def _notes(data: Path) -> Path:
    """Return the file in which heedful keeps the digests of the dataset ``data``."""
    return data / "meta" / "heedful.json"


def _train(job: TrainingJob) -> TrainingSummary:
    """Train one policy; runs in a worker process, where torch may be imported."""
    import torch

    from heedful.policies.reference.training import Progress as Step
    from heedful.policies.reference.training import fit
    from heedful.spec.plugins import load as load_plugin

    torch.set_num_threads(1)
    world = load_plugin("heedful.worlds", "tabletop")()
    said = _said(job)

    def tell(step: Step) -> None:
        if step.step % _SAID_EVERY == 0 or step.step == step.steps:
            said.write_text(json.dumps([step.step, step.steps, step.loss]))

    with disk_errors(job.out), _memory(job):
        shown, calibration = _shown(job.data), world.contract.calibration
        trained = fit(shown, _config(job), calibration, job.out, job.seed, tell)
        said.unlink(missing_ok=True)
    write_atomically(job.out / _TRAINED_ON, json.dumps(_identity(job)).encode())
    return TrainingSummary(
        ref=f"reference:{job.out}",
        cpu_s=trained.cpu_s,
        loss=trained.curve[-1][1],
        demonstrations=trained.demonstrations,
    )


def _shown(data: Path) -> Iterator[Demonstration]:
    """Yield the demonstrations of ``data``; trouble with reading is not taken for one with writing."""
    from heedful.store.datasets import load_demonstrations

    try:
        yield from load_demonstrations(data)
    except OSError as error:
        where = error.filename or data
        raise UserError(f"The dataset {data} cannot be read ({where}): {error.strerror or error}.") from error


@contextmanager
def _memory(job: TrainingJob) -> Iterator[None]:
    """Turn a lack of memory into the one line a user can act on."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate memory" not in str(error):
            raise
        raise UserError(
            f"Not enough memory to train {job.out}. Its last checkpoint is kept; free some memory, "
            "or train on fewer demonstrations or with fewer workers."
        ) from error


def _said(job: TrainingJob) -> Path:
    """Return the file in which a worker says how far its training is."""
    return job.out / _PROGRESS


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
