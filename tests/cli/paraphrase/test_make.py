import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from heedful.cli.app import app
from heedful.spec.paraphrase import CELLS, COLUMNS


def make(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["paraphrase", "make", *map(str, arguments)])


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.txt"
    path.write_text("# kitchen\nput the bowl on the stove\n\ngrasp the red cube\nput the bowl on the stove\n")
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_every_cell_of_an_instruction_of_the_grammar_is_written(mine: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.csv"
    said = make("--instructions", mine, "--out", out)
    assert said.exit_code == 0, said.output
    found = rows(out)
    assert tuple(found[0]) == COLUMNS
    own = [r for r in found if r["original"] == "grasp the red cube"]
    assert len(own) == 4 * len(CELLS)
    assert {r["source"] for r in found} == {"rules"}
    assert "1 repeated line" in said.stdout
    assert f"heedful paraphrase score {out}" in " ".join(said.stdout.split())


def test_json_says_what_is_missing_and_why_something_is_left_out(mine: Path, tmp_path: Path) -> None:
    mine.write_text(mine.read_text() + "the cube is here\nfold the towel\n")
    said = make(
        "--instructions", mine, "--cells", "none/same_polarity_habitual,none/hint", "--per-cell", "3",
        "--out", tmp_path / "p.csv", "--json",
    )  # fmt: skip
    found = json.loads(said.stdout)
    assert found["by_cell"] == {"none/same_polarity_habitual": 6, "none/hint": 9}
    assert found["missing"] == {"none/same_polarity_habitual": {"fold the towel": 3}}
    assert list(found["refused"]) == ["the cube is here"]
    assert found["paraphrases"] == found["asked"] - 3 == 15 == len(rows(tmp_path / "p.csv"))


def test_equal_seeds_write_equal_files(mine: Path, tmp_path: Path) -> None:
    texts = []
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        make("--instructions", mine, "--seed", seed, "--out", tmp_path / name)
        texts.append((tmp_path / name).read_bytes())
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("", (), "holds no instructions"),
        ("lift the cube", ("--cells", "none/hints"), "Did you mean 'hint'"),
        ("lift the cube", ("--cells", "none/none"), "original wording"),
        ("lift the cube", ("--cells", ","), "No cells"),
        ("the cube is here", (), "not one plain request"),
        ("fold it", ("--cells", "none/same_polarity_habitual"), "No paraphrase could be made"),
        (b"\xff\xfe\x00", (), "UTF-8"),
        (None, (), "mine.txt"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(
    tmp_path: Path, text: str | bytes | None, options: tuple[str, ...], said: str
) -> None:
    path = tmp_path / "mine.txt"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = make("--instructions", path, *options, "--out", tmp_path / "p.csv")
    assert found.exit_code == 2
    assert said in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "p.csv").exists()


@pytest.mark.parametrize("more", [(), ("--model", "openai:x")])
def test_the_instructions_are_never_overwritten(mine: Path, more: tuple[str, ...]) -> None:
    before = mine.read_bytes()
    said = make("--instructions", mine, "--out", mine.parent / "." / mine.name, *more)
    assert (said.exit_code, mine.read_bytes()) == (2, before)
    assert "holds the instructions" in " ".join(said.stderr.split())
    assert make("--instructions", mine, "--out", "", *more).exit_code == 2


@pytest.mark.parametrize("more", [(), ("--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1")])
def test_only_paraphrases_are_replaced_by_paraphrases(mine: Path, more: tuple[str, ...]) -> None:
    out = mine.parent / "notes.csv"
    out.write_text("my,notes\n")
    said = make("--instructions", mine, "--out", out, *more)
    assert (said.exit_code, out.read_text()) == (2, "my,notes\n")
    assert "notes.csv is there and is no file of paraphrases" in said.stderr
    said = make("--instructions", mine, "--out", out / "new.csv", *more)
    assert said.exit_code == 2
    assert f"{out} is a file, not a folder" in said.stderr


def test_an_account_of_something_else_is_not_replaced(mine: Path) -> None:
    (mine.parent / "out.json").write_text('{"my": "settings"}')
    more = ("--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1")
    said = make("--instructions", mine, "--out", mine.parent / "out.csv", *more)
    assert said.exit_code == 2
    assert "out.json, where the account of the run goes, is there and is none" in said.stderr
    assert sorted(path.name for path in mine.parent.iterdir()) == ["mine.txt", "out.json"]


def test_an_earlier_file_and_what_is_forced_are_replaced(mine: Path) -> None:
    out = mine.parent / "out.csv"
    assert make("--instructions", mine, "--out", out, "--per-cell", "1").exit_code == 0
    first = out.read_bytes()
    assert make("--instructions", mine, "--out", out, "--per-cell", "2").exit_code == 0
    assert len(out.read_bytes()) > len(first)
    out.write_text("my,notes\n")
    assert make("--instructions", mine, "--out", out, "--per-cell", "1", "--force").exit_code == 0
    assert out.read_bytes() == first
