from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heedful.spec.demonstration import Demonstration
from heedful.spec.errors import UserError
from heedful.store.datasets import write_dataset
from heedful.store.process_lock import ProcessLock
from heedful.workflows import training
from heedful.workflows.training import TrainingJob, check_job, train


def demonstration(seed: int) -> Demonstration:
    rng = np.random.default_rng(seed)
    images = {c: np.full((10, 64, 64, 3), 40 * seed, np.uint8) for c in ("agent", "wrist")}
    low = rng.normal(size=(10, 8))
    return Demonstration("lift it", images, low, low, low, rng.normal(size=(10, 5)), np.arange(5).repeat(2))


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("data") / "d", [demonstration(1), demonstration(2)])


@pytest.fixture
def job(written: Path, tmp_path: Path) -> TrainingJob:
    return TrainingJob(written, tmp_path / "policy", steps=1)


def test_a_folder_in_use_by_another_training_is_refused(job: TrainingJob) -> None:
    job.out.mkdir()
    lock = ProcessLock(job.out)
    with pytest.raises(UserError, match=f"in use by another process \\(number {os.getpid()}\\)"):
        train("reference", job.data, job.out, steps=1)
    lock.release()


def test_what_a_killed_writer_left_is_removed_by_the_next_training(job: TrainingJob) -> None:
    job.out.mkdir()
    (job.out / ".resume.safetensors.4711").write_bytes(b"half")
    check_job(job)
    training._locked(job.out).release()
    assert [p.name for p in job.out.iterdir()] == [".lock"]


@pytest.mark.parametrize("name", ["notes.txt", "spec.yaml", "meta", ".staging"])
def test_a_folder_with_other_things_is_refused_and_left_alone(job: TrainingJob, name: str) -> None:
    job.out.mkdir()
    (job.out / name).write_text("mine")
    with pytest.raises(UserError, match=rf"not empty \({name}\); choose another folder"):
        train("reference", job.data, job.out)
    assert [p.name for p in job.out.iterdir()] == [name]


def test_a_folder_with_a_policys_own_files_is_accepted(job: TrainingJob) -> None:
    job.out.mkdir()
    for name in training._OWN:
        (job.out / name).touch()
    check_job(job)


def test_a_file_in_place_of_the_folder_is_refused(job: TrainingJob) -> None:
    job.out.write_text("mine")
    with pytest.raises(UserError, match="policy is a file"):
        train("reference", job.data, job.out)
    with pytest.raises(UserError, match="Cannot write"):
        train("reference", job.data, job.out / "below")
    assert job.out.read_text() == "mine"


@pytest.mark.parametrize(
    ("changes", "said"), [({"encoder": "grru"}, "'gru'"), ({"steps": 0}, "steps is 0"), ({"seed": -1}, "-1")]
)
def test_values_that_cannot_be_are_refused(job: TrainingJob, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        check_job(replace(job, **changes))


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "The disk is full: cannot write .*policy"),
        (MemoryError(), "Not enough memory to train .*policy"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "Not enough memory"),
    ],
)
def test_a_full_disk_or_memory_is_one_clear_line(
    job: TrainingJob, trouble: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise trouble

    monkeypatch.setattr("heedful.policies.reference.training.fit", fails)
    with pytest.raises(UserError, match=said):
        training._train(job)


def edit_info(**changes: Any) -> Callable[[Path], None]:
    def edit(data: Path) -> None:
        info = json.loads((data / "meta/info.json").read_text())
        (data / "meta/info.json").write_text(json.dumps({**info, **changes}))

    return edit


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (edit_info(total_frames=7), "info.json is damaged"),
        (edit_info(fps=0), "info.json: fps is 0"),
        (lambda data: (data / "meta/heedful.json").unlink(), "heedful.json is missing"),
    ],
    ids=["frames", "no rate", "notes"],
)
def test_an_edited_dataset_is_refused_before_anything_is_trained(
    tmp_path: Path, edit: Callable[[Path], None], said: str
) -> None:
    data = write_dataset(tmp_path / "d", [demonstration(1)])
    edit(data)
    with pytest.raises(UserError, match=said) as caught:
        train("reference", data, tmp_path / "policy")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "policy").exists()


def test_a_finished_training_is_returned_and_another_is_told_what_differs(job: TrainingJob) -> None:
    def again(**changes: Any) -> Any:
        asked = replace(job, **changes)
        return train("reference", asked.data, asked.out, asked.encoder, asked.seed, asked.steps)

    done = again(encoder="gru", steps=2)
    before = (job.out / "weights.safetensors").read_bytes()
    assert again(encoder="gru", steps=2) == done
    with pytest.raises(UserError, match="seed 0, not 3; steps 2, not 1500"):
        again(encoder="gru", steps=None, seed=3)
    assert (job.out / "weights.safetensors").read_bytes() == before
