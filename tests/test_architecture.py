"""The rules of the house that no single room can check: imports, weight, sizes, printing."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "heedful"
FILES = sorted(SOURCE.rglob("*.py"))
HEAVY = {"torch", "mujoco", "polars", "pyarrow", "av", "matplotlib", "scipy", "numpy", "jinja2", "yaml"}
NAMELESS = {"utils", "util", "helpers", "common", "misc", "manager"}


def test_imports_between_rooms_go_one_way() -> None:
    from importlinter.cli import lint_imports

    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == 0


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import json, sys\n"
        "from heedful.cli.app import app\n"
        "try:\n    app(json.loads(sys.argv[1]))\n"
        "except SystemExit as left:\n    assert not left.code, left.code\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, json.dumps(arguments)], capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(run.stdout.splitlines()[-1]))
    assert "heedful" in loaded
    # typer itself loads pydantic when it converts a value, so only the bare help page goes without
    assert not loaded & (HEAVY | ({"pydantic"} if arguments == ["--help"] else set()))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_file_is_short_named_for_what_it_holds_and_prints_only_in_cli(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    assert path.stem not in NAMELESS
    if "cli" not in path.relative_to(SOURCE).parts:
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        printing = [c.lineno for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"]
        assert not printing
