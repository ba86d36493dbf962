"""The chaos script itself, and proof that it would see what it looks for."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from kill_at_random import COLLECTING, POLICY, RUNNING, chaos
from what_is_left import collect_faults, run_faults

from heedful.spec.case import PolicyEntry
from heedful.spec.run import RunSpec
from heedful.workflows import collect, run


@pytest.mark.slow
def test_killed_200_times_a_run_is_what_it_would_have_been(tmp_path: Path) -> None:
    outcome = chaos(RUNNING, tmp_path, 200, np.random.default_rng(0))
    assert outcome.faults == ()
    assert outcome.kills == 200 and outcome.finished >= 5


@pytest.mark.slow
def test_killed_20_times_a_dataset_is_what_it_would_have_been(tmp_path: Path) -> None:
    outcome = chaos(COLLECTING, tmp_path, 20, np.random.default_rng(1))
    assert outcome.faults == ()
    assert outcome.kills == 20 and outcome.finished >= 1


def test_every_fault_of_a_run_folder_would_be_seen(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    options = {"pairs": "color,object", "rollouts": 4, "in_distribution": 0, "empty": 0}
    run(RunSpec("factors", options, (PolicyEntry(POLICY, "p"),)), whole, workers=1)
    lines = (whole / "episodes.jsonl").read_text().splitlines(keepends=True)
    first, second = (json.loads(line)["id"] for line in lines[:2])

    def broken(number: int) -> Path:
        return Path(shutil.copytree(whole, tmp_path / str(number)))

    assert run_faults(broken(0), whole) == []
    (broken(1) / "episodes.jsonl").write_text("".join(lines[1:]))
    assert "4 episodes planned, 3 written" in run_faults(tmp_path / "1", whole)[0]
    (broken(2) / "episodes.jsonl").write_text("".join([*lines, lines[0]]))
    assert run_faults(tmp_path / "2", whole) == ["4 episodes planned, 5 written, 4 different ones"]
    file = broken(3) / "rollouts" / first / "trajectory.parquet"
    shutil.copy(whole / "rollouts" / second / "trajectory.parquet", file)
    assert run_faults(tmp_path / "3", whole) == [f"episode {first} differs"]
    file = broken(4) / "rollouts" / first / "trajectory.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    assert "is damaged" in run_faults(tmp_path / "4", whole)[0]
    (broken(5) / "rollouts" / ".tmp-x").mkdir()
    assert "rollouts/.tmp-x was left behind" in run_faults(tmp_path / "5", whole)


def test_every_fault_of_a_dataset_would_be_seen(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    collect("factors", {"pairs": ["color,object"], "demos": 1}, whole, image_size_px=32, workers=1)
    assert collect_faults(whole, whole) == []
    other = Path(shutil.copytree(whole, tmp_path / "other"))
    video = next(other.rglob("*.mp4"))
    video.write_bytes(video.read_bytes()[:-1])
    (other / ".staging").mkdir()
    faults = collect_faults(other, whole)
    assert ".staging was left behind" in faults and f"{video.relative_to(other)} differs" in faults
