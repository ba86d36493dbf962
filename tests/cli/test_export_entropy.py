"""`heedful export` and `heedful entropy`, as they are typed."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from heedful.cli.app import app

POLICY = "planted:color>object>spatial>verb>size"


def heedful(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "x"
    asked = ("factors", "--pair", "color,object", "--policy", POLICY, "--rollouts", "2", "--empty", "1")
    assert heedful("run", *asked, "--in-distribution", "2", "--workers", "1", "--out", path).exit_code == 0
    assert heedful("judge", path).exit_code == 0
    return path


def test_a_run_is_exported_and_its_entropy_measured(runs: Path, tmp_path: Path) -> None:
    data = tmp_path / "data" / "x"
    export = ("export", runs, "--to", "lerobot", data, "--image-size", "32", "--workers", "1")
    found = heedful(*export)
    assert found.exit_code == 0
    assert "7 episodes" in found.stdout and "LeRobot v3.0" in found.stdout
    assert "1  (no words)" in found.stdout
    assert "5 of 7 rollouts have no score" in found.stdout
    again = json.loads(heedful(*export, "--json").stdout)
    assert (again["dataset"]["episodes"], again["rewards"]) == (7, False)
    assert "7 episodes" in heedful("check", "--data", data).stdout

    said = heedful("entropy", data, "--scene-label", "scene").stdout
    bits = re.search(r"H\(task \| scene\) = ([\d.]+) bits", said)
    full = json.loads(heedful("entropy", data, "--scene-label", "scene", "--json").stdout)
    (one,) = full["datasets"]
    assert bits and float(bits.group(1)) == round(one["entropy"]["bits"], 3) > 0
    assert "only the words tell which" in said and "red cube" in said
    other = shutil.copytree(data, tmp_path / "y")
    two = heedful("entropy", data, other, "--scene-label", "scene").stdout
    assert "Mean of 2 datasets" in two and "Weighted by episodes" in two


def test_a_dataset_that_is_named_twice_is_refused(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    heedful("export", runs, "d", "--image-size", "32", "--workers", "1")
    for first, second, said in (
        ("d", "d", "is named twice;"),
        ("d", tmp_path / "d", "named twice, also as d"),
    ):
        result = heedful("entropy", first, second, "--scene-label", "scene")
        assert result.exit_code == 2 and said in result.stderr and result.stderr.count("\n") == 1


def test_a_long_table_is_cut_but_not_in_json(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heedful.cli.entropy._SHOWN", 2)
    heedful("export", runs, tmp_path / "d", "--image-size", "32", "--workers", "1")
    assert "... and 5 more scenes" in heedful("entropy", tmp_path / "d", "--scene-label", "case").stdout
    full = json.loads(heedful("entropy", tmp_path / "d", "--scene-label", "case", "--json").stdout)
    assert len(full["datasets"][0]["entropy"]["scenes"]) == 7


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["export", "RUN", "d", "--to", "rlds"], "Unknown format 'rlds'"),
        (["export", "RUN", "d", "--only", "failure"], "There is nothing to export"),
        (["export", "RUN", "d", "--image-size", "33"], "must be an even number"),
        (["export", "nowhere", "d"], "There is no run at nowhere"),
        (["export", "RUN", "RUN"], "is no dataset and is not empty"),
        (["export", "RUN", "RUN/spec.yaml"], "is a file; a dataset needs a folder"),
        (["entropy", "nowhere", "--scene-label", "scene"], "There is no dataset at nowhere"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_mistake_is_one_line_and_leaves_nothing(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = heedful(*(a.replace("RUN", str(runs)) for a in arguments))
    assert result.exit_code == 2 and said in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_neither_needs_torch_nor_lerobot(runs: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from typer.testing import CliRunner; from heedful.cli.app import app\n"
        f"CliRunner().invoke(app, ['export', {str(runs)!r}, 'd', '--image-size', '32', '--workers', '1'])\n"
        "CliRunner().invoke(app, ['entropy', 'd', '--scene-label', 'scene'])\n"
        "print(sorted({'torch', 'lerobot', 'pandas', 'datasets'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "[]"
    assert (tmp_path / "d/meta/info.json").exists()
