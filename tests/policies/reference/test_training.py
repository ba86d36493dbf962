import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from heedful.policies.reference import TrainingConfig
from heedful.policies.reference.learner import one_cycle
from heedful.policies.reference.training import Progress, fit
from heedful.spec.errors import UserError

CONFIG = TrainingConfig(encoder="gru", steps=8, batch_size=8, checkpoint_every=3)


class Killed(Exception):
    pass


def kill_after(step: int) -> Any:
    def progress(now: Progress) -> None:
        if now.step == step:
            raise Killed

    return progress


def test_a_killed_training_ends_where_an_unbroken_one_does(painted: Any, tmp_path: Path) -> None:
    shown = painted.demonstrations(6)
    whole = fit(shown, CONFIG, painted.calibration, tmp_path / "whole", seed=3)
    with pytest.raises(Killed):
        fit(shown, CONFIG, painted.calibration, tmp_path / "broken", seed=3, progress=kill_after(5))
    assert not (tmp_path / "broken/policy.json").exists()
    steps: list[int] = []
    again = fit(
        iter(shown), CONFIG, painted.calibration, tmp_path / "broken", 3, lambda now: steps.append(now.step)
    )
    assert steps == [4, 5, 6, 7, 8]
    assert again.curve == whole.curve
    left, right = (load_file(tmp_path / name / "weights.safetensors") for name in ("whole", "broken"))
    assert left.keys() == right.keys()
    assert all((left[key] == right[key]).all() for key in left)


def test_a_finished_training_is_not_done_again(painted: Any, tmp_path: Path) -> None:
    shown = painted.demonstrations(4)
    first = fit(shown, CONFIG, painted.calibration, tmp_path)
    again = fit(shown, CONFIG, painted.calibration, tmp_path, progress=kill_after(1))
    assert (again.curve, again.cpu_s, again.demonstrations) == (first.curve, first.cpu_s, 4)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "policy.json",
        "training.json",
        "weights.safetensors",
    ]


def test_a_folder_with_another_policy_is_left_alone(painted: Any, tmp_path: Path) -> None:
    shown = painted.demonstrations(4)
    fit(shown, CONFIG, painted.calibration, tmp_path)
    before = (tmp_path / "policy.json").read_text()
    for changed, seed in ((shown[:2], 0), (shown, 1)):
        with pytest.raises(UserError, match="choose another folder"):
            fit(changed, CONFIG, painted.calibration, tmp_path, seed)
    assert (tmp_path / "policy.json").read_text() == before


def test_the_seed_decides(painted: Any, tmp_path: Path) -> None:
    shown = painted.demonstrations(4)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        fit(shown, CONFIG, painted.calibration, tmp_path / name, seed)
    a, b, c = ((tmp_path / name / "weights.safetensors").read_bytes() for name in "abc")
    assert a == b != c


def test_the_curve_is_recorded_for_the_report(checkpoint: Path) -> None:
    curve = json.loads((checkpoint / "training.json").read_text())
    steps, losses = zip(*curve["loss"], strict=True)
    assert steps == tuple(range(10, 401, 10))
    assert losses[-1] < losses[0] / 2
    assert curve["cpu_s"] > 0
    assert curve["steps"] == 400


def test_demonstrations_that_cannot_be_learned_from_are_refused(painted: Any, tmp_path: Path) -> None:
    shown = painted.demonstrations(2)
    with pytest.raises(UserError, match="no demonstrations"):
        fit([], CONFIG, painted.calibration, tmp_path)
    with pytest.raises(UserError, match="one in the hand"):
        fit(shown, CONFIG, {"agent": painted.calibration["agent"]}, tmp_path)
    shown[0].phase[shown[0].phase == 3] = 2
    with pytest.raises(UserError, match="'close'"):
        fit(shown, CONFIG, painted.calibration, tmp_path)


def test_an_intermediate_checkpoint_that_does_not_serve_is_named(painted: Any, tmp_path: Path) -> None:
    shown = painted.demonstrations(2)
    path = tmp_path / "resume.safetensors"
    with pytest.raises(Killed):
        fit(shown, CONFIG, painted.calibration, tmp_path, progress=kill_after(4))
    with pytest.raises(UserError, match="belongs to a training with other"):
        fit(shown, replace(CONFIG, encoder="mean"), painted.calibration, tmp_path)
    content = path.read_bytes()
    for damaged in (content[:-7], b"half a file", b""):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match="resume.safetensors is damaged"):
            fit(shown, CONFIG, painted.calibration, tmp_path)


def test_the_learning_rate_rises_then_falls_to_nothing() -> None:
    assert [one_cycle(step, 100) for step in (0, 10, 55)] == pytest.approx([0.04, 1.0, 0.5])
    assert one_cycle(99, 100) < 1e-3
