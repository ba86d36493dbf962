"""``heedful run --share-policy``."""

import json
import subprocess
import sys
from pathlib import Path

MODULE = """
import numpy as np
from heedful.spec.contract import CameraContract, PolicyContract

class Alone:
    contract = PolicyContract((CameraContract("agent", 32, 32),), "ee_absolute", 20.0)

    def reset(self, start):
        self.session, received = self.begin(start)
        return received

    def act(self, observation):
        return self.act_many([self.session], [observation])[0]

class Shared(Alone):
    def begin(self, start):
        return [0], start.instruction.upper()

    def act_many(self, sessions, observations):
        chunks = []
        for session, observation in zip(sessions, observations):
            tool = observation.proprioception[0]
            actions = np.tile([*tool[:3], 0, 0, tool[5], 1.0], (5, 1))
            actions[:, 0] += 1e-4 * observation.images_hwc_u8["agent"].mean()
            chunks.append(actions if session[0] < 3 else actions[:0])
            session[0] += 1
        return chunks
"""
ASKED = "run factors --pair color,object --rollouts 4 --in-distribution 0 --empty 2 --workers 2"


def heedful(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    (folder / "mine.py").write_text(MODULE)
    return subprocess.run(
        [sys.executable, "-m", "heedful", *ASKED.split(), *more], cwd=folder, capture_output=True, text=True
    )


def refused(folder: Path, *more: str) -> str:
    """Return the one line with which a command was refused, before it made a folder."""
    done = heedful(folder, "--out", "run", "--share-policy", *more)
    said = [line for line in done.stderr.splitlines() if line.startswith("heedful: ")]
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert len(said) == 1
    assert not (folder / "run").exists()
    return said[-1]


def rows(path: Path) -> dict[str, tuple[object, ...]]:
    lines = map(json.loads, (path / "episodes.jsonl").read_text().splitlines())
    return {
        row["id"]: (row["status"], row["instruction_received"], row["steps"], row["looks"]) for row in lines
    }


def test_the_rows_are_those_of_own_copies(tmp_path: Path) -> None:
    policy = ("--policy", "python:mine:Shared")
    own = heedful(tmp_path, *policy, "--out", "own")
    shared = heedful(tmp_path, *policy, "--out", "shared", "--share-policy")
    assert own.returncode == shared.returncode == 0
    assert "shared: 6 episodes; 0 were there, 6 finished now, 0 crashed now." in shared.stdout
    assert rows(tmp_path / "own") == rows(tmp_path / "shared")
    received = {str(row[1]) for row in rows(tmp_path / "shared").values()}
    assert "" in received and all(text == text.upper() for text in received) and len(received) > 2


def test_what_cannot_be_shared_is_refused_before_there_is_a_folder(tmp_path: Path) -> None:
    planted = refused(tmp_path, "--policy", "planted:color>object>spatial>verb>size")
    assert "cannot be shared: it reads the world's state, which only the worker has" in planted
    alone = refused(tmp_path, "--policy", "python:mine:Shared", "--policy", "python:mine:Alone")
    assert "'python:mine:Alone' cannot be shared" in alone and "Alone lacks begin and act_many" in alone
    ray = refused(tmp_path, "--policy", "python:mine:Shared", "--ray", "local")
    assert "--share-policy is for the workers of one machine and --ray for those of several" in ray
