"""``heedful run`` and ``heedful check`` with policies that misbehave, as a user meets them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heedful.cli.app import app

MODULE = """
from pathlib import Path
from heedful.spec.contract import PolicyContract
print("hello from the module")
class Policy:
    contract = PolicyContract((), "ee_absolute", 20.0)
    def reset(self, start):
        print("hello from reset")
        return start.instruction
    def act(self, observation):
        if not Path("mended").exists():
            raise ValueError("out of luck")
        return []
def broken():
    raise RuntimeError("no weights")
"""
RUN = "run factors --policy python:mine:Policy --pair color,object --rollouts 4 --in-distribution 0 --empty 0"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(MODULE)
    return tmp_path


def heedful(here: Path, line: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(here), **variables}
    command = [sys.executable, "-m", "heedful", *line.split()]
    return subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True)


def test_crashes_are_explained_and_run_again_when_asked(here: Path) -> None:
    line = f"{RUN} --out run --workers 1 --json"
    said = heedful(here, line)
    assert said.returncode == 1
    found = json.loads(said.stdout)  # whatever the policy prints
    assert (found["crashed"], found["crashed_in_all"]) == (4, 4)
    assert found["all_crashed"] == ["python:mine:Policy"]
    assert "4 of 4 episodes crashed in all" in said.stderr
    assert "ValueError: out of luck" in said.stderr
    assert "--retry-crashed" in said.stderr
    assert (here / found["error_file"]).is_file()

    (here / "mended").touch()
    again = json.loads(heedful(here, line).stdout)
    assert (again["already"], again["crashed"], again["crashed_in_all"]) == (4, 0, 4)
    retried = heedful(here, f"{line} --retry-crashed")
    assert retried.returncode == 0
    found = json.loads(retried.stdout)
    assert (found["finished"], found["crashed_in_all"], found["error_file"]) == (4, 0, None)


def test_check_prints_json_only_and_one_line_for_a_policy_that_cannot_be_made(here: Path) -> None:
    poor = heedful(here, "check --json --policy python:mine:Policy")
    assert poor.returncode == 2
    assert json.loads(poor.stdout)[-1]["policy"]["wrong"] == ["ValueError: out of luck"]
    (here / "mended").touch()
    good = heedful(here, "check --json --policy python:mine:Policy")
    assert good.returncode == 0
    assert json.loads(good.stdout)[-1]["detail"] == "the contracts fit"
    bad = heedful(here, "check --json --policy python:mine:broken")
    assert bad.returncode == 2
    lines = [line for line in bad.stderr.splitlines() if line.startswith("heedful: ")]
    assert lines == ["heedful: Policy 'python:mine:broken' cannot be made: RuntimeError: no weights"]
    assert "Traceback" not in bad.stderr


def test_check_reports_a_backend_that_cannot_start(here: Path) -> None:
    said = heedful(here, "check --json", MUJOCO_GL="glfw", DISPLAY="", WAYLAND_DISPLAY="")
    assert "Traceback" not in said.stderr
    found = {finding["what"]: finding for finding in json.loads(said.stdout)}["rendering (tabletop)"]
    assert found["outcome"] == "wrong"
    assert "MUJOCO_GL=glfw is set: unsetting it may be enough" in found["detail"]


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--rollouts x", "'--rollouts': 'x' is given; it must be a whole number."),
        ("--rollouts -1", "'--rollouts': '-1' is given; it must be at least 0."),
        ("--workers 0", "'--workers': '0' is given; it must be at least 1."),
    ],
)
def test_a_value_that_will_not_do_is_named(option: str, said: str) -> None:
    result = CliRunner().invoke(app, ["run", "factors", "--out", "x", *option.split()])
    assert result.exit_code == 2
    assert result.stderr == f"heedful: Invalid value for {said}\n"


def test_a_run_does_not_mix_into_a_comparison(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from heedful.cli.app import app
    from heedful.store.findings_file import COMPARISON

    COMPARISON.write(tmp_path, {"version": 1})
    said = CliRunner().invoke(
        app, ["run", "grid", "--policy", "planted:color>object>spatial>verb>size", "--out", str(tmp_path)]
    )
    assert said.exit_code == 2
    assert "holds a comparison" in " ".join(said.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == [COMPARISON.name]
