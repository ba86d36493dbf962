"""A comparison from nothing to a page, interrupted at every stage; small, so it says little."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heedful.spec.errors import UserError
from heedful.spec.progress import Progress
from heedful.store.run_folder import RunFolder
from heedful.workflows import report
from heedful.workflows.comparing import ComparisonRequest, compare

REQUEST = ComparisonRequest(
    ("color", "object"),
    ("v", "random"),
    (14,),
    (15,),
    seeds=2,
    rollouts=6,
    empty=2,
    image_size_px=64,
    steps=20,
    encoder="mean",
)


class Killed(BaseException):
    """Stands for a kill: nothing may catch it."""


def killed_in(stage: str) -> Progress:
    """Return a progress that dies as soon as ``stage`` has done something."""

    def told(name: str, done: int, total: int, note: str = "") -> None:
        if name.startswith(stage) and done:
            raise Killed

    return told


def findings(found: dict[str, Any]) -> Any:
    """Return what does not depend on the clock or on the folder."""
    kept = json.loads(json.dumps({key: found[key] for key in ("request", "arms", "differences", "bill")}))
    for arm in kept["arms"]:
        for plan in arm["plans"]:
            plan.pop("training_cpu_s")
    return kept


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("cmp") / "run"
    return out, compare(REQUEST, out, workers=1, commands=("heedful compare",)).comparison


@pytest.mark.slow
def test_a_comparison_holds_what_was_asked(finished: tuple[Path, dict[str, Any]]) -> None:
    out, found = finished
    assert [(arm["strategy"], arm["changes"], arm["demos"]) for arm in found["arms"]] == [
        ("v", 14, 15),
        ("random", 14, 15),
    ]
    for arm in found["arms"]:
        assert arm["success"]["all"]["pooled"]["trials"] == 12
        assert arm["empty_instruction"]["trials"] == 4
        assert [plan["f"] for plan in arm["plans"]] == [14, 14]
    assert {one["ground"] for one in found["differences"]} == {"own_held_out", "both_held_out", "all"}
    assert len(list((out / "data").iterdir())) == 3  # V draws nothing at its least f
    assert len(list((out / "policies").iterdir())) == 4
    assert (out / "report" / "index.html").is_file()
    assert len(RunFolder.open(out).rows()) == 4 * 8


@pytest.mark.slow
def test_the_same_command_again_computes_nothing(finished: tuple[Path, dict[str, Any]]) -> None:
    out, found = finished
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.safetensors")}
    rows = (out / "episodes.jsonl").read_bytes()
    again = compare(REQUEST, out, workers=1).comparison
    assert findings(again) == findings(found)
    assert (out / "episodes.jsonl").read_bytes() == rows
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.safetensors")} == before
    assert report(out).is_file()


@pytest.mark.slow
def test_killed_in_every_stage_it_ends_as_if_it_never_was(
    finished: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    for stage in ("collect", "run", "judge"):
        with pytest.raises(Killed):
            compare(REQUEST, tmp_path / "run", workers=1, progress=killed_in(stage))
        assert not (tmp_path / "run" / "comparison.json").exists()
    done = compare(REQUEST, tmp_path / "run", workers=1)
    assert findings(done.comparison) == findings(finished[1])


@pytest.mark.slow
def test_another_grid_in_the_same_folder_is_refused(finished: tuple[Path, dict[str, Any]]) -> None:
    other = ComparisonRequest(("verb", "color"), ("random",), (14,), (15,), seeds=1, steps=20)
    with pytest.raises(UserError, match="another plan .of other factors"):
        compare(other, finished[0], workers=1)
