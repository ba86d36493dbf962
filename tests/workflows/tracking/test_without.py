"""Without ``--track``, without wandb, and with a name that is none."""

import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

RUN = (
    "run factors --policy planted:color>object>spatial>verb>size --pair color,object --rollouts 4 "
    "--in-distribution 0 --empty 0 --out run --workers 1"
)
Command = Callable[..., subprocess.CompletedProcess[str]]

installed = find_spec("wandb") is not None


def test_a_run_without_it_imports_writes_and_starts_nothing(tmp_path: Path) -> None:
    script = f"""
import sys, threading
from heedful.cli.app import app
if __name__ == "__main__":
    app({RUN.split()!r}, standalone_mode=False)
    assert "heedful.cli.run" in sys.modules
    print([name for name in sys.modules if "wandb" in name])
    print([thread.name for thread in threading.enumerate() if "_read" in thread.name])
"""
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines()[-2:] == ["[]", "[]"], done.stderr
    there = {path.name for path in (tmp_path / "run").iterdir()}
    assert there == {".lock", "episodes.jsonl", "lock.json", "rollouts", "spec.yaml"}


@pytest.mark.parametrize("verb", [RUN, f"{RUN} --dry-run", "diagnose --out run", "report run"])
def test_a_name_that_is_none_is_refused_before_anything_is_done(
    heedful: Command, tmp_path: Path, verb: str
) -> None:
    said = heedful(tmp_path, f"{verb} --track wanbd")
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr == "heedful: Unknown tracker 'wanbd'. Did you mean 'wandb'? Valid: wandb.\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(installed, reason="wandb is installed here; this is for where it is not")
def test_where_it_is_not_installed_the_command_that_installs_it_is_said(
    heedful: Command, tmp_path: Path
) -> None:
    (
        tmp_path / "wandb"
    ).mkdir()  # as an offline run of another program leaves it; Python takes it for a package
    said = heedful(tmp_path, f"{RUN} --track wandb")
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr == 'heedful: --track wandb needs the package wandb: pip install "heedful[wandb]".\n'
    assert not (tmp_path / "run").exists()
