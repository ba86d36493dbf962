"""``heedful check --policy`` as a user meets it: what is printed, what is refused, where pictures go."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heedful.cli.app import app

DOUBLES = Path(__file__).parents[1] / "workflows"
ROBUST = "python:checking_doubles:Fatal:never"


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "heedful", "check", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(DOUBLES)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("hang in act", "The policy hangs: killed after 1 s in policy.act; --call-limit waits longer."),
        ("die in act", "The policy ended the process that it ran in, at policy.act: its worker process died"),
    ],
)
def test_a_policy_that_hangs_or_dies_is_one_line_and_what_was_found_is_printed(
    kind: str, said: str, tmp_path: Path
) -> None:
    found = check(tmp_path, "--policy", f"python:checking_doubles:Fatal:{kind}", "--call-limit", "1")
    assert found.returncode == 2
    assert "camera agent" in found.stdout and "What went out" in found.stdout
    assert f"Wrong: {said}" in found.stdout
    assert found.stderr.count("\n") == 1 and said in found.stderr


def test_only_the_policy_is_printed_and_its_pictures_have_a_folder_of_their_own(tmp_path: Path) -> None:
    found = check(tmp_path, "--policy", ROBUST)
    assert found.returncode == 0, found.stderr
    assert "extra train" not in found.stdout and "robots" not in found.stdout
    assert found.stdout.lstrip().startswith(f"{ROBUST} in tabletop")
    (folder,) = (tmp_path / "runs" / "check").iterdir()
    assert folder.name == "python-checking_doubles-Fatal-never"
    assert f"runs/check/{folder.name}/agent.png" in found.stdout
    check(tmp_path, "--policy", ROBUST, "--save-images", "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["agent.png"]


def test_an_installation_with_something_wrong_is_printed_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("heedful.cli.installation.ROOM_NEEDED_GB", 1e9)
    result = CliRunner().invoke(app, ["check", "--policy", "planted:color>object>spatial>verb>size"])
    assert result.exit_code == 2
    assert "extra train" in result.stdout and "GB free here" in result.stderr


def test_data_and_a_policy_are_refused_together() -> None:
    result = CliRunner().invoke(app, ["check", "--data", "x", "--policy", "planted:color"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "heedful: check looks at --data or at --policy, not at both: give one of them.\n"
