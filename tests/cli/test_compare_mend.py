"""``heedful compare`` and ``heedful mend`` up to where they begin to compute."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from heedful.cli.app import app
from heedful.cli.compare import counts, names


def heedful(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


COMPARE = ("compare", "--factors", "color,object", "--changes", "12,18,24", "--demos", "200", "--seeds", "3")


def test_the_whole_bill_comes_first_and_nothing_is_written(tmp_path: Path) -> None:
    said = heedful(*COMPARE, "--out", tmp_path / "cmp", "--dry-run")
    assert said.exit_code == 0
    assert said.stdout.startswith("Strategy v is left out at f = 12: its least is 14.")
    for words in ("demonstrations", "trainings", "rollouts", "disk", "min", "MB"):
        assert words in said.stdout
    assert not (tmp_path / "cmp").exists()


def test_the_bill_as_json(tmp_path: Path) -> None:
    found = json.loads(heedful(*COMPARE, "--out", tmp_path / "cmp", "--dry-run", "--json").stdout)
    assert found["bill"]["trainings"] == 8 * 3
    assert found["bill"]["episodes"] == 8 * 3 * 240
    assert {arm["n"][0] for arm in found["arms"]} == {200}
    assert found["left_out"]


def test_demonstrations_vary_only_when_asked_to(tmp_path: Path) -> None:
    asked = (
        "compare",
        "--factors",
        "color,object",
        "--demos",
        "50,100",
        "--out",
        tmp_path / "cmp",
        "--dry-run",
    )
    refused = heedful(*asked, "--changes", "18")
    assert "say --vary demos" in refused.stderr
    also = heedful(*asked, "--changes", "14,18", "--vary", "demos")
    assert "give --changes one value" in also.stderr
    found = json.loads(heedful(*asked, "--changes", "18", "--vary", "demos", "--json").stdout)
    assert sorted({arm["n"][0] for arm in found["arms"]}) == [50, 100]


@pytest.mark.parametrize("given", ["12;18", "1.5", "-3", "many"])
def test_numbers_are_whole(given: str, tmp_path: Path) -> None:
    said = heedful(
        "compare", "--factors", "color,object", "--changes", given, "--out", tmp_path / "c", "--dry-run"
    )
    assert said.exit_code != 0
    assert "whole numbers between commas" in said.stderr


def test_lists_are_read_with_any_separator() -> None:
    assert names("color > object, verb") == ["color", "object", "verb"]
    assert counts("12, 18", "--changes") == (12, 18)


def test_the_bill_of_mending_comes_first(tmp_path: Path) -> None:
    asked = ("mend", "--policy-recipe", "reference", "--factors", "color,object", "--demos", "200")
    said = heedful(*asked, "--out", tmp_path / "mend", "--dry-run")
    assert said.exit_code == 0
    assert "700 different" in said.stdout
    found = json.loads(heedful(*asked, "--out", tmp_path / "mend", "--dry-run", "--json").stdout)
    assert found["bill"]["trainings"] == 3
    assert not (tmp_path / "mend").exists()


def test_mending_needs_two_bound_factors(tmp_path: Path) -> None:
    said = heedful("mend", "--factors", "color,object,size", "--out", tmp_path / "mend", "--dry-run")
    assert "takes two factors that a training set binds" in said.stderr
