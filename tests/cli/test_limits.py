"""``heedful run`` with a policy that hangs."""

import json
import os
import subprocess
import sys
from pathlib import Path

MODULE = """
import time
from heedful.spec.contract import PolicyContract
class Policy:
    contract = PolicyContract((), "ee_absolute", 20.0)
    def reset(self, start):
        return start.instruction
    def act(self, observation):
        time.sleep(600)
"""


def test_a_policy_that_hangs_is_killed_at_the_limit_and_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MODULE)
    line = (
        "run factors --policy python:mine:Policy --pair color,object --rollouts 4 --in-distribution 0 "
        "--empty 0 --out run --workers 2 --call-limit 1"
    )
    said = subprocess.run(
        [sys.executable, "-m", "heedful", *line.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert said.returncode == 1
    assert "0 finished now, 4 crashed now. 4 of these took more than one attempt." in said.stdout
    assert "killed after 1 s in policy.act at step 0; tried 2 times" in said.stderr
    rows = [json.loads(row) for row in (tmp_path / "run" / "episodes.jsonl").read_text().splitlines()]
    assert [row["attempts"] for row in rows] == [2] * 4
