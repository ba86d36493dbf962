import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from heedful.cli.app import app

PLANTED = "planted:color>object>spatial>verb>size"
PLAN = """\
demonstration,color,object,carrier_verb,instruction,change,changes
1,red,cube,grasp,grasp the red cube,start,0
2,red,cube,lift,lift the red cube,,0
3,blue,cube,lift,lift the blue cube,color: red -> blue,1
"""


def heedful(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.csv"
    path.write_text(PLAN)
    return path


def test_a_plan_is_carried_out_and_its_demonstrations_are_kept_for_others(tmp_path: Path, plan: Path) -> None:
    size = ("--image-size", "32", "--workers", "1", "--cache", tmp_path / "cache")
    said = heedful("collect", "--plan", plan, "--out", tmp_path / "d", *size, "--json")
    assert said.exit_code == 0
    found = json.loads(said.stdout)
    assert found["episodes"] == 3
    assert found["tasks"] == {"grasp the red cube": 1, "lift the red cube": 1, "lift the blue cube": 1}
    kept = sorted((tmp_path / "cache").rglob("*.npz"))
    assert len(kept) == 3
    plan.write_text("".join(PLAN.splitlines(keepends=True)[i] for i in (0, 3, 2)))  # edited by hand
    again = heedful("collect", "--plan", plan, "--out", tmp_path / "e", *size)
    assert again.exit_code == 0
    assert "2 demonstrations" in again.stdout
    assert "Next: heedful train reference --data" in again.stdout
    assert sorted((tmp_path / "cache").rglob("*.npz")) == kept


def test_a_dry_run_says_what_would_be_collected_and_collects_nothing(tmp_path: Path, plan: Path) -> None:
    asked = ("collect", "--plan", plan, "--out", tmp_path / "d", "--dry-run")
    said = heedful(*asked, "--cache", tmp_path / "cache", "--workers", "1")
    assert said.exit_code == 0
    assert (
        "3 demonstrations of 3 different instructions, cameras agent and wrist at 256x256 px." in said.stdout
    )
    assert f"0 of them are in the cache {tmp_path / 'cache'}." in said.stdout
    assert "3 to collect, a few seconds with 1 worker; the dataset takes under 1 MB" in said.stdout
    found = json.loads(heedful(*asked, "--json").stdout)
    assert found["table"] == {"color,object": {"red+cube": 2, "blue+cube": 1}}
    assert (found["demonstrations"], found["left"], found["image_size_px"]) == (3, 3, 256)
    assert list(tmp_path.iterdir()) == [plan]


def test_a_dry_run_says_in_words_what_is_small_and_what_is_done(tmp_path: Path, plan: Path) -> None:
    asked = ("collect", "--plan", plan, "--out", tmp_path / "d", "--image-size", "32", "--workers", "1")
    assert heedful(*asked).exit_code == 0
    said = heedful(*asked, "--dry-run")
    assert said.exit_code == 0 and "holds this dataset already, finished: it would only be" in said.stdout
    other = heedful(*asked, "--base-seed", "1", "--dry-run")
    assert other.exit_code == 2 and "base_seed: 0 in the folder, 1 asked for" in other.stderr
    many = heedful(
        "collect", "grid", "--demos", "264", "--out", tmp_path / "e", "--workers", "1", "--dry-run"
    )
    assert "264 to collect, about 60 s with 1 worker; the dataset takes about 27 MB." in many.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "either a suite, such as factors, or a plan with --plan; neither is named"),
        (["factors", "--plan", "plan.csv"], "both factors and plan.csv are named"),
        (["--plan", "plan.csv", "--demos", "3"], "leave out --demos"),
        (["--plan", "plan.csv", "--pair", "color,object", "--demos", "3"], "leave out --pair and --demos"),
        (["--plan", "plan.csv", "--factors", "color"], "leave out --factors"),
        (["--plan", "nowhere.csv"], "nowhere.csv"),
        (["--plan", "plan.csv", "--cache", "plan.csv"], "cache plan.csv is a file"),
        (["grid", "--factors", "colour"], "Did you mean 'color'"),
        (["grid", "--pair", "color,object"], "Unknown option of suite grid 'pairs'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_mistake_is_one_line_exit_code_2_and_leaves_nothing(
    arguments: list[str], said: str, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = heedful("collect", *arguments, "--out", "d")
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == [plan]


def test_the_grid_is_run_and_judged(tmp_path: Path) -> None:
    out = tmp_path / "run"
    asked = ("run", "grid", "--factors", "object,color", "--policy", PLANTED, "--rollouts", "8")
    found = json.loads(heedful(*asked, "--empty", "2", "--workers", "1", "--out", out, "--json").stdout)
    assert (found["episodes"], found["crashed"]) == (10, 0)
    metrics = json.loads(heedful("judge", out, "--json").stdout)
    (policy,) = metrics["policies"]
    assert policy["counts"]["success"] == 8  # an object that satisfies every factor is there
    assert policy["success"]["value"] == 1.0
    assert metrics["grid"]["name"] == "color,object"
