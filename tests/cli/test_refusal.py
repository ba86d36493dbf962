from __future__ import annotations

import errno

import pytest
import typer
from typer.testing import CliRunner, Result

from heedful.cli.refusal import OneLineGroup
from heedful.spec.errors import UserError


def run(problem: BaseException, *arguments: str) -> Result:
    """Run an application whose one verb raises ``problem``."""
    app = typer.Typer(cls=OneLineGroup, pretty_exceptions_enable=False)

    @app.callback()
    def group() -> None:
        """Make the one verb a subcommand."""

    @app.command()
    def verb(number: int = 0) -> None:
        raise problem

    return CliRunner().invoke(app, list(arguments) or ["verb"])


def test_a_users_mistake_is_one_line_on_standard_error_and_exit_code_2() -> None:
    result = run(UserError("Unknown pair 'a'.\nValid: b."))
    assert result.exit_code == 2
    assert result.stderr == "heedful: Unknown pair 'a'. Valid: b.\n"
    assert result.stdout == ""


def test_a_full_disk_says_so_and_how_to_go_on() -> None:
    result = run(OSError(errno.ENOSPC, "No space left on device", "runs/x"))
    assert result.exit_code == 2
    assert result.stderr.startswith("heedful: The disk is full (runs/x).")
    assert result.stderr.count("\n") == 1


def test_a_missing_extra_is_named_with_its_remedy() -> None:
    result = run(ModuleNotFoundError("No module named 'torch'", name="torch"))
    assert result.exit_code == 2
    assert "pip install 'heedful[train]'" in result.stderr


def test_an_interruption_says_how_to_resume(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["heedful", "run", "factors", "--out", "my runs/x"])
    result = run(KeyboardInterrupt())
    assert result.exit_code == 130
    assert result.stderr.endswith("Go on with: heedful run factors --out 'my runs/x'\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("vreb",), "No such command 'vreb'"),
        (("verb", "--numbr", "3"), "--number"),
        (("verb", "--number", "three"), "'--number'"),
    ],
)
def test_wrong_usage_is_one_line_too(arguments: tuple[str, ...], said: str) -> None:
    result = run(RuntimeError("not reached"), *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (OSError(errno.ENAMETOOLONG, "File name too long", "aa"), "File name too long (aa)."),
        (OSError(errno.EEXIST, "File exists", b"old", None, "new"), "File exists (old, new)."),
        (OSError(errno.EIO, "Input/output error"), "Input/output error."),
        (OSError("libEGL.so is not there."), "libEGL.so is not there."),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "Not enough memory."),
        (MemoryError(), "Not enough memory."),
    ],
)
def test_what_the_system_refuses_is_one_line(problem: Exception, said: str) -> None:
    result = run(problem)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"heedful: {said}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("bug", [ModuleNotFoundError("x", name="x"), ValueError("no")])
def test_a_bug_is_not_hidden(bug: Exception) -> None:
    result = run(bug)
    assert result.exception is bug
