from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from heedful.cli.app import app


def failures(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["paraphrase", "failures", *(str(a) for a in arguments)])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a table as users of other simulators write it: 8 successes, 2 near and 3 far failures."""
    lines = ["policy,task,episode,success,step,x,y,z"]
    ends = [(1, y) for y in (-0.03, -0.02, -0.01, 0.0, 0.0, 0.01, 0.02, 0.03)]
    ends += [(0, 0.015), (0, -0.015), (0, 0.3), (0, -0.3), (0, 0.4)]
    for episode, (success, y) in enumerate(ends):
        for step, t in enumerate(np.linspace(0, 1, 20)):
            lines.append(f"pi,open the drawer,{episode},{success},{step},{0.5 * t},{y * t},{0.4 - 0.3 * t}")
    file = tmp_path / "paths.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_a_table_of_another_simulator_gives_shares_and_a_page(table: Path, tmp_path: Path) -> None:
    said = failures(table, "--out", tmp_path / "page")
    assert said.exit_code == 0, said.output
    assert "60.0 % (3/5)" in said.stdout
    assert "as published" in said.stdout
    assert (tmp_path / "page" / "index.html").exists()
    assert sorted(p.name for p in (tmp_path / "page" / "figures").iterdir())


def test_json_is_all_that_stands_on_standard_output(table: Path) -> None:
    found = json.loads(failures(table, "--json").stdout)
    (policy,) = found["policies"]
    assert (policy["successes"], policy["failures"]) == (8, 5)
    assert policy["far"]["max"]["far"] == 3
    assert found["method"]["frame"] == "world" and found["method"]["points"] == 50
    assert found["thresholds"] == ["max", "p99", "p95", "p90"]


def test_options_reach_the_measure(table: Path) -> None:
    def method(*options: str) -> dict[str, object]:
        return dict(json.loads(failures(table, "--json", *options).stdout)["method"])

    assert method("--points", "20")["points"] == 20
    assert method("--least-width", "0.5")["least_width_m"] == 0.5
    assert method("--leave-one-out")["leave_one_out"] is True
    few = json.loads(failures(table, "--json", "--least-successes", "9").stdout)["policies"][0]
    assert few["without_corridor"] == 5


def test_a_folder_of_tables_is_read_whole(table: Path) -> None:
    text = table.read_text().replace("open the drawer", "close it")
    (table.parent / "more.csv").write_text(text)
    (policy,) = json.loads(failures(table.parent, "--json").stdout)["policies"]
    assert (policy["failures"], list(policy["tasks"])) == (10, ["close it", "open the drawer"])


def test_a_mistake_is_one_line(tmp_path: Path) -> None:
    said = failures(tmp_path / "absent.csv")
    assert said.exit_code == 2
    assert "absent.csv does not exist" in said.stderr
    assert said.stderr.count("\n") == 1


def test_a_place_that_takes_no_page_is_refused_before_anything_is_read(table: Path) -> None:
    table.write_text("no table at all")
    for place, said in ((table, "is a file; name the folder"), (table / "page", "is a file, not a folder")):
        found = failures(table, "--out", place)
        assert found.exit_code == 2
        assert said in found.stderr
    (table.parent / "mine").mkdir()
    (table.parent / "mine" / "notes").touch()
    assert "is no report of heedful" in failures(table, "--out", table.parent / "mine").stderr
