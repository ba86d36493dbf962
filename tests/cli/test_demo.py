from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heedful.cli.app import app

pytest.importorskip("torch", reason="the extra train is not installed")


@pytest.mark.slow
def test_the_demo_goes_from_nothing_to_a_report_and_has_nothing_to_do_the_second_time(
    tmp_path: Path,
) -> None:
    asked = ["demo", "--quick", "--out", str(tmp_path / "demo"), "--json"]
    first = CliRunner().invoke(app, asked, catch_exceptions=False)
    assert first.exit_code == 0, first.stderr
    shown = json.loads(first.stdout)
    assert Path(shown["report"]).is_file()
    assert {pair["pair"] for policy in shown["metrics"]["policies"] for pair in policy["pairs"]} == {
        "color,object"
    }
    # the planted order comes out even of this little
    for policy in shown["known_answer"]["policies"]:
        planted = policy["name"].removeprefix("planted:").split(">")
        assert [factor for level in policy["hierarchy"]["levels"] for factor in level] == planted

    again = json.loads(CliRunner().invoke(app, asked, catch_exceptions=False).stdout)
    assert again["metrics"] == shown["metrics"]
    assert again["known_answer"] == shown["known_answer"]
