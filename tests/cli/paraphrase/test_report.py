"""``heedful paraphrase report`` as it is typed."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from heedful.cli.app import app

ROOT = Path(__file__).parents[3]
PAIRS = ROOT / "tests" / "metrics" / "data" / "pride_pairs.csv"
SAMPLE = ROOT.parent / "shared" / "data" / "libero_para_sample.csv"


def report(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["paraphrase", "report", *map(str, arguments)])


def test_json_has_the_three_keys_at_the_top_and_under_the_policy() -> None:
    found = json.loads(report(PAIRS, "--json").stdout)
    assert found["pride"]["0.5"] == pytest.approx(70.5690, abs=1e-3)
    assert len(found["cells"]) == 43
    (name,) = found["policies"]
    assert name == "pride_pairs"
    for key in ("success_rate", "pride", "cells"):
        assert found["policies"][name][key] == found[key]
    assert found["page"] is None


def test_the_published_sample_gives_the_published_numbers() -> None:
    if not SAMPLE.exists():
        pytest.skip("the published sample is not here")
    found = json.loads(report(SAMPLE, "--json").stdout)
    assert 100 * found["success_rate"] == pytest.approx(77.0186, abs=1e-3)
    known = {"0.0": 74.6598, "0.5": 70.8090, "1.0": 66.2143}
    assert {alpha: found["pride"][alpha] for alpha in known} == pytest.approx(known, abs=1e-3)


def test_the_summary_says_the_numbers_and_where_the_page_is(tmp_path: Path) -> None:
    said = report(PAIRS, "--out", tmp_path / "page").stdout
    assert "70.6" in said
    assert "Asked in other words, pride_pairs succeeds in" in said
    assert "Not reported: the empty-instruction control." in said
    assert Path(said.splitlines()[-1]) == tmp_path / "page" / "index.html"
    assert (tmp_path / "page" / "index.html").is_file()


def test_several_policies_stand_side_by_side(tmp_path: Path) -> None:
    head, *rows = PAIRS.read_text().splitlines()
    both = tmp_path / "both.csv"
    both.write_text("\n".join([f"policy,{head}", *(f"{p},{row}" for p in ("a", "b") for row in rows)]) + "\n")
    found = json.loads(report(both, "--json").stdout)
    assert list(found["policies"]) == ["a", "b"]
    assert "success_rate" not in found
    alone = json.loads(report(both, "--policy", "b", "--json").stdout)
    assert alone["success_rate"] == found["policies"]["b"]["success_rate"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.csv"], "nowhere.csv does not exist"),
        ([str(PAIRS), "--alpha", "2"], "--alpha"),
        ([str(PAIRS), "--policy", "pride_pair"], "Did you mean 'pride_pairs'"),
        ([str(PAIRS), "--metadata", "nowhere.csv"], "nowhere.csv does not exist"),
        (["."], "neither a run folder"),
    ],
)
def test_a_mistake_is_one_line_exit_code_2_and_leaves_nothing(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = report(*arguments, "--out", "page")
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_place_that_takes_no_page_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    damaged = tmp_path / "results.csv"
    damaged.write_text("no results at all")
    for place, said in (
        (damaged, "is a file; name the folder"),
        (damaged / "page", "is a file, not a folder"),
    ):
        found = report(damaged, "--out", place)
        assert found.exit_code == 2
        assert said in found.stderr
