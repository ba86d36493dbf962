from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from heedful.cli.app import VERBS, app

ROOT = Path(__file__).parents[2]
PLANTED = "planted:color>object>spatial>verb>size"
PUBLISHED = ROOT / "tests" / "metrics" / "data" / "published_fdr.csv"


def heedful(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_every_verb_explains_itself() -> None:
    said = heedful("--help")
    assert said.exit_code == 0
    for verbs in VERBS.values():
        for name in verbs:
            assert name in said.stdout
            assert heedful(name, "--help").exit_code == 0


def commands_in_documents() -> list[str]:
    text = "".join((ROOT / name).read_text() for name in ("README.md", "CONTRIBUTING.md"))
    blocks = re.findall(r"```\n(.*?)```", text, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("heedful ")]


@pytest.mark.parametrize("command", commands_in_documents())
def test_every_command_in_the_documents_is_understood(command: str) -> None:
    name, *arguments = shlex.split(command, comments=True)[1:]
    verb: Any = typer.main.get_command(app)
    verb.commands[name].make_context(name, arguments)  # raises on an unknown or missing option


def test_list_names_what_is_registered() -> None:
    found = json.loads(heedful("list", "--json").stdout)
    assert "tabletop" in found["worlds"]
    assert {"planted", "reference", "python"} <= set(found["policies"])
    assert found["vocabularies"]["tabletop"]["factors"]["verb"]["kind"] == "action"
    assert len(found["vocabularies"]["tabletop"]["pairs"]) == 10
    assert "color,object" in heedful("list").stdout


def test_check_sees_that_rendering_works_and_that_a_policy_fits() -> None:
    said = heedful("check", "--policy", PLANTED, "--json")
    assert said.exit_code == 0
    outcomes = {finding["what"]: finding["outcome"] for finding in json.loads(said.stdout)}
    assert outcomes["rendering (tabletop)"] == "ok"
    assert outcomes[f"{PLANTED} in tabletop"] == "ok"


def test_dominance_prints_the_published_hierarchies_and_nothing_else() -> None:
    found = json.loads(heedful("dominance", PUBLISHED, "--tau", "0.05", "--json").stdout)
    assert set(found) == {"policies"}
    assert found["policies"]["pi05"]["hierarchy"] == [["color"], ["object", "spatial"], ["verb"], ["size"]]
    with (PUBLISHED.parent / "published_copeland_tau5.csv").open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert len(rows) == len(found["policies"]) == 6
    for row in rows:
        expected = {factor: int(score) for factor, score in row.items() if factor != "policy"}
        assert found["policies"][row["policy"]] == {
            "copeland": expected,
            "hierarchy": found["policies"][row["policy"]]["hierarchy"],
        }
    assert "color > object = spatial > verb > size" in heedful("dominance", PUBLISHED).stdout


def test_a_dry_run_counts_episodes_compares_contracts_and_writes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "run"
    asked = ("run", "factors", "--policy", PLANTED, "--pair", "color,object", "--rollouts", 8, "--out", out)
    plan = json.loads(heedful(*map(str, asked), "--dry-run", "--json").stdout)
    assert plan["episodes"] == sum(row["episodes"] for row in plan["table"])
    assert {row["arm"]: row["episodes"] for row in plan["table"]}["conflict"] == 8
    assert plan["contract"] == {PLANTED: "fits"}
    assert not out.exists()


def test_a_dry_diagnosis_counts_what_it_would_collect_train_and_run(tmp_path: Path) -> None:
    out = tmp_path / "all"
    arguments = ["--demos", "30", "--training-seed", "0", "--training-seed", "1", "--dry-run", "--json"]
    plan = json.loads(heedful("diagnose", "factors", "--out", out, *arguments).stdout)
    assert len(plan["demonstrations"]) == 10
    assert set(plan["demonstrations"].values()) == {30}
    assert plan["policies_to_train"] == 20
    assert not out.exists()


def test_run_judge_and_report_a_planted_policy(tmp_path: Path) -> None:
    out = tmp_path / "run"
    asked = ["run", "factors", "--policy", PLANTED, "--pair", "color,object", "--rollouts", "8"]
    asked += ["--in-distribution", "6", "--empty", "4", "--workers", "1", "--out", str(out), "--json"]
    first = json.loads(heedful(*asked).stdout)
    assert (first["already"], first["finished"], first["crashed"]) == (0, first["episodes"], 0)
    again = json.loads(heedful(*asked).stdout)
    assert (again["already"], again["finished"]) == (first["episodes"], 0)

    metrics = json.loads(heedful("judge", out, "--json").stdout)
    pair = metrics["policies"][0]["pairs"][0]
    assert pair["fdr"]["value"] == 1.0
    shown = heedful("judge", out).stdout
    assert "+1.00" in shown
    assert metrics["takeaway"] in shown

    page = Path(heedful("report", out, "--no-videos").stdout.strip())
    assert page == out / "report" / "index.html"
    assert page.is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "factors", "--policy", "plantd:x", "--out", "x"], "Did you mean 'planted'"),
        (["run", "factors", "--policy", PLANTED, "--pair", "colour,object", "--out", "x"], "'color'"),
        (["run", "fators", "--policy", PLANTED, "--out", "x"], "Did you mean 'factors'"),
        (["run", "factors", "--policy", PLANTED, "--set", "optins.a=1", "--out", "x"], "'options'"),
        (["run", "factors", "--policy", PLANTED, "--set", "options.rolouts=1", "--out", "x"], "'rollouts'"),
        (["judge", "nowhere"], "nowhere"),
        (["report", "nowhere"], "nowhere"),
        (["train", "refernce", "--data", "d", "--out", "x"], "Did you mean 'reference'"),
        (["train", "reference", "--data", "nowhere", "--out", "x"], "nowhere"),
        (["collect", "factors", "--pair", "color,objekt", "--out", "x"], "Did you mean 'object'"),
        (["diagnose", "factors", "--policy-recipe", "refrence", "--out", "x"], "Did you mean 'reference'"),
        (["dominance", "nowhere.csv"], "nowhere.csv"),
        (["check", "--world", "tabeltop"], "Did you mean 'tabletop'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_mistake_is_one_line_exit_code_2_and_leaves_nothing(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = heedful(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
