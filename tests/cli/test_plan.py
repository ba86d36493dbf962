"""``heedful plan`` as its user types it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from heedful.cli.app import app
from heedful.spec.case import PolicyEntry
from heedful.spec.run import RunSpec
from heedful.store.plan_file import read_plan
from heedful.store.run_folder import RunFolder

ENTRIES = (PolicyEntry("python:a:A", "one"), PolicyEntry("python:b:B", "two"))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def heedful(line: str) -> Result:
    return CliRunner().invoke(app, ["plan", *line.split()])


def planned(line: str) -> Any:
    said = heedful(f"{line} --json")
    assert said.exit_code == 0, said.output
    return json.loads(said.stdout)


def refused(line: str) -> str:
    said = heedful(line)
    assert said.exit_code == 2, said.output
    (only,) = said.stderr.strip().splitlines()
    return only


def judged(*intervals: tuple[float, float, float], suite: str = "factors") -> Path:
    """Make a judged run with one policy for each FDR of color over object, and its interval."""
    folder = Path("runs/x")
    shutil.rmtree(folder, ignore_errors=True)
    policies = [
        {
            "name": entry.name,
            "pairs": [
                {
                    "factor_1": "color",
                    "factor_2": "object",
                    "weak": False,
                    "fdr": {"value": value, "low": low, "high": high},
                }
            ],
            "hierarchy": None,
        }
        for entry, (value, low, high) in zip(ENTRIES, intervals, strict=False)
    ]
    with RunFolder.open(folder, RunSpec(suite, {}, ENTRIES), create=True) as run:
        run.write_metrics({"policies": policies})
    return folder


BASIC = "--factors color,object --strategy V --demos 200 --changes 18 --out plan.csv"


def test_the_plan_of_the_readme() -> None:
    said = heedful(f"{BASIC} --order color,object,spatial,verb,size --sheet plan.html")
    assert said.exit_code == 0, said.output
    for words in (
        "18 of 36",
        "18 (14 of the strategy, 4 of stays at random cells added)",
        "200, 11 to 12 a cell",
        "color > object (given); under-grounded: object",
        "red",
        "Next: heedful collect --plan plan.csv --out data/plan",
    ):
        assert words in said.stdout
    plan = read_plan(Path("plan.csv"))
    assert (plan.strategy, plan.changes, len(plan.rows)) == ("v", 18, 200)
    assert Path("plan.html").is_file()


def test_json_says_the_same() -> None:
    found = planned(BASIC)
    plan = read_plan(Path("plan.csv"))
    assert (found["cells"], found["changes"], found["changes_of_strategy"]) == (18, 18, 14)
    assert found["added_cells"] == [list(cell) for cell in plan.added]
    assert found["demonstrations_per_cell"] == [11, 12]
    assert (found["order_from"], found["under_grounded"], found["already_there"]) == (
        "published",
        ["object"],
        False,
    )


@pytest.mark.parametrize(("name", "strategy"), [("V_full", "v-full"), ("l", "l"), ("COMPLETE", "complete")])
def test_strategies_in_any_case(name: str, strategy: str) -> None:
    assert planned(f"--factors color,object --strategy {name} --demos 50 --out p.csv")["strategy"] == strategy


def test_the_same_plan_again_is_no_trouble_and_another_is_refused() -> None:
    planned(BASIC)
    assert planned(BASIC)["already_there"] is True
    other = BASIC.replace("18", "20")
    assert "is not this plan (strategy v, 200 demonstrations, 18 changes)" in refused(other)
    assert planned(f"{other} --force")["changes"] == 20
    Path("plan.csv").unlink()
    assert "plan.json is there and is not this plan" in refused(BASIC)
    Path("plan.csv").write_text("mine")
    assert "cannot be read as a plan" in refused(BASIC)


def test_a_sheet_replaces_only_a_sheet() -> None:
    Path("page.html").write_text("mine")
    assert "page.html is there and is no sheet" in refused(f"{BASIC} --sheet page.html")
    assert not Path("plan.csv").exists()
    planned(f"{BASIC} --sheet sheet.html")
    planned(f"{BASIC} --sheet sheet.html")


@pytest.mark.parametrize("grammar", ["bun", "pizza", "cup"])
def test_the_real_robot_grids(grammar: str) -> None:
    factors = {"bun": "color,spatial", "pizza": "spatial,object", "cup": "verb,color"}[grammar]
    said = heedful(f"--grammar {grammar}.yaml --factors {factors} --demos 40 --out p.csv")
    assert said.exit_code == 0, said.output
    assert "9 of 16" in said.stdout
    assert "--sheet plan.html writes a sheet" in said.stdout
    assert "collect --plan" not in said.stdout
    assert read_plan(Path("p.csv")).grammar == grammar


def test_a_grammar_of_ones_own_with_its_order() -> None:
    text = "name: m\ntemplate: 'open {side} {pace}'\nfactors:\n"
    text += "  - {name: side, values: [left, right]}\n  - {name: pace, values: [slowly, fast]}\n"
    Path("mine.yaml").write_text(text)
    line = "--grammar mine.yaml --factors side,pace --demos 8 --out p.csv"
    assert "does not say where side, pace stands" in refused(line)
    Path("mine.yaml").write_text(text + "order: [pace, side]\n")
    found = planned(line)
    assert (found["order"], found["order_from"]) == (["pace", "side"], "grammar")
    assert planned(f"{line} --order side,pace --force")["order"] == ["side", "pace"]


def test_a_sheet_that_cannot_be_written_leaves_no_plan_either(here: Path) -> None:
    Path("notes").write_text("mine")
    assert "notes is a file, not a folder" in refused(f"{BASIC} --sheet notes/sheet.html")
    assert [path.name for path in here.iterdir()] == ["notes"]


def test_an_order_that_was_measured() -> None:
    run = judged((-0.4, -0.6, -0.1))
    found = planned(f"{BASIC} --from {run}")
    assert (found["order"], found["order_from"]) == (["object", "color"], "measured (one)")
    assert found["under_grounded"] == ["color"]


def test_what_is_not_separable_is_said() -> None:
    run = judged((-0.4, -0.9, 0.1))
    said = heedful(f"{BASIC} --from {run}")
    assert "color > object (published order, nothing separable (one)); under-grounded" in said.stdout
    assert "measured (one)" not in said.stdout
    assert said.stdout.count("are not separable (FDR -0.40 [-0.90, +0.10] of color over object") == 1


def test_policies_that_do_not_agree_are_named() -> None:
    run = judged((-0.4, -0.6, -0.1), (0.4, 0.1, 0.6))
    assert "'one' object > color; 'two' color > object" in refused(f"{BASIC} --from {run}")
    assert planned(f"{BASIC} --from {run} --policy two")["order"] == ["color", "object"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--factors colour,object --demos 50 --out p.csv", "Did you mean 'color'"),
        ("--factors color,color --demos 50 --out p.csv", "named twice"),
        ("--factors , --demos 50 --out p.csv", "No factors"),
        ("--factors color,object --strategy W --demos 50 --out p.csv", "Unknown strategy 'W'"),
        ("--factors color,object --strategy random --demos 50 --out p.csv", "--changes"),
        ("--factors color,object --changes 12 --demos 50 --out p.csv", "at least 14 factor changes"),
        ("--factors color,object --demos 14 --out p.csv", "15 is the smallest"),
        ("--factors color,object --demos 0 --out p.csv", "at least 1"),
        ("--factors color,object --demos 50 --base red --out p.csv", "one value for each"),
        ("--factors color,object --demos 50 --base rad,cube --out p.csv", "Did you mean 'red'"),
        ("--factors color,object --demos 50 --order color --out p.csv", "where object stands"),
        ("--factors color,object --demos 50 --order color,objekt --out p.csv", "Did you mean 'object'"),
        ("--factors color,object --demos 50 --order color,color,object --out p.csv", "more than once"),
        ("--factors color,object --demos 50 --from none --out p.csv", "There is no run at none"),
        ("--factors color,object --demos 50 --policy p --out p.csv", "--from"),
        ("--factors color,object --demos 50 --from x --order color,object --out p.csv", "one of the two"),
        ("--factors color,object --demos 50 --grammar piza --out p.csv", "Did you mean 'pizza'"),
        ("--factors color,object --demos 50 --out p", "call it p.csv"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(here: Path, line: str, says: str) -> None:
    assert says in refused(line)
    assert list(here.iterdir()) == []


def test_runs_that_have_no_order() -> None:
    assert "is a run of suite grid" in refused(f"{BASIC} --from {judged(suite='grid')}")
    run = judged((0.4, 0.1, 0.6))
    (run / "metrics.json").unlink()
    assert "run `heedful judge" in refused(f"{BASIC} --from {run}")
    (run / "metrics.json").write_text('{"policies": [{"name": "one", "pairs": [{}]}]}')
    assert "metrics.json is damaged" in refused(f"{BASIC} --from {run}")


@pytest.mark.parametrize("sheet", ["p.csv", "./p.csv", "p.json"])
def test_a_sheet_never_replaces_its_plan(sheet: str, here: Path) -> None:
    said = refused(f"--factors color,object --strategy V --demos 24 --out p.csv --sheet {sheet}")
    assert "where the plan itself goes" in said
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("out", [".", "/", ".."])
def test_a_plan_needs_a_file_of_its_own(out: str) -> None:
    assert "call it plan.csv" in refused(f"--factors color,object --strategy V --demos 24 --out {out}")


@pytest.mark.parametrize("budget", ["--demos 99999999999", "--demos 24 --changes 99999999999999999999"])
def test_absurd_numbers_are_refused_at_once(budget: str) -> None:
    assert "a plan has at most 100000" in refused(f"--factors color,object --strategy V {budget} --out p.csv")


@pytest.mark.parametrize("text", ["2024-99-99", "[" * 5000])
def test_a_grammar_that_yaml_chokes_on_is_one_line(text: str, here: Path) -> None:
    (here / "g.yaml").write_text(text)
    assert "g.yaml" in refused("--grammar g.yaml --factors a,b --strategy V --demos 24 --out p.csv")


def test_a_grammar_that_comes_with_heedful_is_named_as_such() -> None:
    said = heedful("--grammar bun.yaml --factors color,spatial --strategy V --demos 40 --out b.csv")
    assert "bun, which comes with heedful" in said.stdout


@pytest.mark.parametrize("left", ["p.csv", "p.json"])
def test_a_kill_between_the_two_files_is_mended_by_the_same_command(left: str, here: Path) -> None:
    line = "--factors color,object --strategy V --demos 24 --out p.csv"
    planned(line)
    both = {path.name: path.read_bytes() for path in here.iterdir()}
    for name in both:
        if name != left:
            (here / name).unlink()
    planned(line)
    assert {path.name: path.read_bytes() for path in here.iterdir()} == both
