"""Mistakes in values, and terminals that cannot show or take what is said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heedful.cli.app import app


@pytest.mark.parametrize("dry", [True, False])
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("encoders=[grru]", "Did you mean 'gru'"),
        ("steps=0", "steps is 0"),
        ("training_seeds=[-1]", "-1"),
        ("demos=0", "demos is 0"),
        ("planted=-1", "planted"),
        ("base_seed=-1", "base_seed is -1"),
        ("image_size_px=33", "image size is 33 px"),
        ("image_size_px=4096", "image size is 4096 px"),
    ],
)
def test_a_diagnosis_checks_its_values_first(setting: str, said: str, dry: bool, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["diagnose", "factors", "--out", str(out), "--set", setting, *["--dry-run"] * dry]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize("size", ["33", "4096", "16"])
def test_collect_refuses_an_image_size_by_its_option(size: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["collect", "factors", "--image-size", size, "--out", str(out)])
    assert result.exit_code == 2
    assert "--image-size" in result.stderr
    assert not out.exists()


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run ``command`` in a shell where ``$H`` is heedful."""
    heedful = f"{sys.executable} -c 'from heedful.cli import main; main()'"
    return subprocess.run(
        ["bash", "-c", command.replace("$H", heedful)], capture_output=True, text=True, check=False
    )


def test_a_name_too_long_is_one_line() -> None:
    result = CliRunner().invoke(app, ["judge", "a" * 300])
    assert result.exit_code == 2
    assert "File name too long" in result.stderr
    assert result.stderr.count("\n") == 1


def test_text_that_the_terminal_cannot_show_is_replaced() -> None:
    """The name of the folder comes back in the output, and is no ASCII."""
    code = 'from heedful.cli.refusal import _make_output_tolerant as m; m(); print("caf\\u00e9")'
    result = shell(f"LC_ALL=C PYTHONIOENCODING=ascii {sys.executable} -c '{code}'")
    assert (result.stdout, result.stderr) == ("caf?\n", "")
    result = shell("LC_ALL=C PYTHONIOENCODING=ascii $H judge café")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1


def test_closed_and_full_output_is_no_crash() -> None:
    closed = shell("$H list >&-")
    assert (closed.returncode, closed.stderr) == (0, "")
    full = shell("$H list >/dev/full")
    assert full.returncode == 2
    assert full.stderr.startswith("heedful: The disk is full.")
    assert full.stderr.count("\n") == 1
