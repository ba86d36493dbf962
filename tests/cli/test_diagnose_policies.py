"""``heedful diagnose --policy``: run, judge and report in one command."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from heedful.cli.app import app

PLANTED = "planted:color>object>spatial>verb>size"
FEW = ("--pair", "color,object", "--rollouts", "8", "--in-distribution", "2", "--empty", "2")
BROKEN = """
from heedful.spec.contract import PolicyContract
class Policy:
    contract = PolicyContract((), "ee_absolute", 20.0)
    def reset(self, start):
        raise ValueError("out of luck")
    def act(self, observation):
        return []
"""


def diagnose(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["diagnose", *map(str, arguments)])


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the known-answer check, which has tests of its own."""
    monkeypatch.setattr("heedful.workflows.policy_diagnosis.check_known_answer", lambda *_: {"policies": []})


@pytest.mark.usefixtures("quick")
def test_one_reference_is_enough(tmp_path: Path) -> None:
    said = diagnose("--policy", PLANTED, *FEW, "--out", tmp_path / "run", "--json")
    assert said.exit_code == 0, said.stderr
    found = json.loads(said.stdout)
    assert (found["run"]["finished"], found["run"]["crashed"]) == (12, 0)
    [pair] = found["metrics"]["policies"][0]["pairs"]
    assert pair["fdr"]["value"] == 1.0
    assert PLANTED.replace(">", "&gt;") in Path(found["report"]).read_text()
    again = json.loads(diagnose("--policy", PLANTED, *FEW, "--out", tmp_path / "run", "--json").stdout)
    assert again["run"]["already"] == 12
    assert again["metrics"]["policies"] == found["metrics"]["policies"]


@pytest.mark.usefixtures("quick")
def test_a_spec_that_names_policies_is_a_run(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(
        f"suite: grid\noptions: {{factors: 'verb,color', rollouts: 6, empty: 1}}\npolicies: ['{PLANTED}']\n"
    )
    said = diagnose("--spec", tmp_path / "run.yaml", "--out", tmp_path / "run", "--json")
    assert said.exit_code == 0, said.stderr
    found = json.loads(said.stdout)
    assert found["metrics"]["judge"].startswith("grid-")
    assert found["known_answer"] == {}


def test_a_policy_that_only_crashes_has_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "luckless.py").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    said = diagnose("--policy", "python:luckless:Policy", *FEW, "--out", "run", "--json")
    assert said.exit_code == 1
    found = json.loads(said.stdout)
    assert (found["report"], found["metrics"], found["run"]["crashed_in_all"]) == (None, {}, 12)
    assert "out of luck" in said.stderr
    assert not (tmp_path / "run" / "metrics.json").exists()
    stopped = diagnose(
        "--policy", "python:luckless:Policy", *FEW, "--out", "other", "--on-error", "stop", "--workers", "1"
    )
    assert stopped.exit_code == 1
    assert "stopped at the first crash" in stopped.stderr


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--policy", PLANTED, "--demos", "3"], "--demos says nothing about a policy that is there"),
        (["--policy", PLANTED, "--encoder", "gru"], "--encoder says nothing about a policy that is there"),
        (["--flip", "both"], "--flip says nothing about a policy that is trained"),
        (["--factors", "verb,color"], "--factors says nothing about a policy that is trained"),
        (["--on-error", "stop"], "--on-error says nothing about a policy that is trained"),
        (["--policy", "plantd:color"], "Did you mean 'planted'"),
    ],
)
def test_what_does_not_go_together_is_one_line(tmp_path: Path, arguments: list[str], line: str) -> None:
    said = diagnose(*arguments, "--out", tmp_path / "x")
    assert said.exit_code == 2
    assert line in said.stderr and len(said.stderr.splitlines()) == 1
    assert not (tmp_path / "x").exists()


def test_a_dry_run_says_what_a_run_would(tmp_path: Path) -> None:
    said = diagnose("--policy", PLANTED, *FEW, "--out", tmp_path / "x", "--dry-run", "--json")
    assert json.loads(said.stdout)["episodes"] == 12
    assert not (tmp_path / "x").exists()
