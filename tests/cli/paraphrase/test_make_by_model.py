"""``heedful paraphrase make --model``, against a server of the real wire formats."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

sys.path.append(str(Path(__file__).parents[2] / "doubles"))

from wire_server import Say, WireServer, scholar, serving  # noqa: E402

from heedful.cli.app import app  # noqa: E402
from heedful.spec.errors import UserError  # noqa: E402


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WireServer]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with serving(scholar) as running:
        yield running


@pytest.fixture
def instructions(tmp_path: Path) -> Path:
    path = tmp_path / "mine.txt"
    path.write_text("# two\nput the bowl on the stove\nlift the red cube\n")
    return path


def make(instructions: Path, *more: str) -> Result:
    out = instructions.with_name("made.csv")
    words = ["paraphrase", "make", "--instructions", str(instructions), "--out", str(out), *more]
    return CliRunner().invoke(app, words)


def test_what_was_kept_and_what_it_cost_is_said(server: WireServer, instructions: Path) -> None:
    cells = ["--cells", "none/hint", "--cells", "addition_deletion/hint"]
    prices = ["--price-in", "2", "--price-out", "10"]
    said = make(instructions, "--model", "w", "--base-url", server.openai_url, *cells, *prices)
    assert said.exit_code == 0
    assert "w checks its own work" in said.stderr
    assert "16 paraphrases of 2 instructions." in said.stdout
    # 2 instructions x (2 ingredients + 1 composition), 100 tokens read and 20 written a call
    assert "generator w: 6 calls, 6 of them new; 600 tokens read, 120 written; cost 0.0024." in said.stdout
    assert "verifier w: 6 calls" in said.stdout
    assert "missing:" not in said.stdout


def test_cells_that_stay_short_are_named(server: WireServer, instructions: Path) -> None:
    server.script = lambda q: (
        Say("sorry") if "do_not_repeat" in q.data and "red cube" in q.user else scholar(q)
    )
    said = make(
        instructions,
        "--model",
        "w",
        "--verifier",
        "v",
        "--base-url",
        server.openai_url,
        "--cells",
        "none/hint",
    )
    assert said.exit_code == 0
    assert "checks its own work" not in said.stderr
    assert "4 of the 8 asked for are missing: none/hint (4)" in said.stdout


def test_json_is_for_scripts(server: WireServer, instructions: Path) -> None:
    said = make(
        instructions, "--model", "w", "--base-url", server.openai_url, "--cells", "none/hint", "--json"
    )
    told = json.loads(said.stdout)
    assert (told["paraphrases"], told["generator"], told["independent"]) == (8, "w", False)
    assert told["counts"]["asked"] == 2


def test_a_dry_run_says_the_number_of_calls_and_asks_nothing(server: WireServer, instructions: Path) -> None:
    said = make(instructions, "--model", "w", "--base-url", server.openai_url, "--dry-run")
    assert "about 172 calls, at most 774" in said.stdout
    keyless = make(instructions, "--model", "openai:m", "--dry-run", "--json")
    assert json.loads(keyless.stdout)["expected"] == 172
    assert server.questions == []
    assert list(instructions.parent.iterdir()) == [instructions]


@pytest.mark.parametrize(
    "option",
    [
        ["--base-url", "http://localhost:1/v1"],
        ["--api-key-env", "K"],
        ["--verifier", "openai:m"],
        ["--verifier-base-url", "http://localhost:1/v1"],
        ["--verifier-api-key-env", "K"],
        ["--price-in", "1"],
        ["--price-out", "1"],
        ["--verifier-price-in", "1"],
        ["--verifier-price-out", "1"],
        ["--max-calls", "3"],
        ["--dry-run"],
    ],
    ids=lambda option: option[0],
)
def test_options_about_models_need_a_model(instructions: Path, option: list[str]) -> None:
    said = make(instructions, *option)
    assert isinstance(said.exception, UserError) or said.exit_code == 2
    assert "--model" in str(said.exception) + said.stderr
    assert not instructions.with_name("made.csv").exists()


@pytest.mark.parametrize("side", ["--price", "--verifier-price"])
def test_a_price_has_two_sides(instructions: Path, side: str) -> None:
    said = make(instructions, "--model", "openai:m", f"{side}-in", "1")
    assert f"{side}-in and {side}-out go together" in str(said.exception) + said.stderr
