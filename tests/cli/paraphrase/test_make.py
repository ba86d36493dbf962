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
