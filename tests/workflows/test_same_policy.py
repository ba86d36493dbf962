"""A run folder knows which policy it holds episodes of, whatever stands behind the reference later."""

import json
from pathlib import Path

import pytest

from heedful.policies.digests import digest_of, identity_of
from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.run import RunSpec
from heedful.workflows.running import RunResult, run

MODULE = """
from heedful.spec.contract import PolicyContract
class Policy:
    contract = PolicyContract((), "ee_absolute", 20.0)
    {identity}
    def reset(self, start):
        {reset}
        return start.instruction
    def act(self, observation):
        return []
"""
REF = "python:same_or_not:Policy"


def write(folder: Path, identity: str = "", reset: str = "", comment: str = "") -> None:
    text = MODULE.format(identity=identity or "pass", reset=reset or "pass")
    (folder / "same_or_not.py").write_text(f"# {comment}\n{text}")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # files change within a second here
    return tmp_path


def asked(*refs: str, rollouts: int = 4) -> RunSpec:
    options = {"pairs": "color,object", "rollouts": rollouts, "in_distribution": 0, "empty": 0}
    return RunSpec("factors", options, tuple(PolicyEntry(ref, ref) for ref in refs))


def done(spec: RunSpec, **how: bool) -> RunResult:
    return run(spec, Path("run"), workers=1, **how)  # type: ignore[arg-type]  # retry_crashed


def test_another_policy_behind_the_same_reference_is_refused(here: Path) -> None:
    write(here)
    first = done(asked(REF))
    assert first.finished == 4
    rows = (here / "run" / "episodes.jsonl").read_text()
    assert json.loads(rows.splitlines()[0])["policy"]["digest"] == digest_of(REF) != ""
    write(here, comment="retrained")
    with pytest.raises(UserError, match=r"is another one than when this run was made .*Use a new run folder"):
        done(asked(REF, rollouts=8))
    with pytest.raises(UserError, match="is another one"):  # what is missing of it would be run, too
        done(asked("planted:color>object>spatial>verb>size", rollouts=8))
    assert (here / "run" / "episodes.jsonl").read_text() == rows
    write(here)
    assert done(asked(REF, rollouts=8)).finished == 4


def test_a_policy_that_only_crashed_may_be_mended(here: Path) -> None:
    write(here, reset="raise ValueError('out of luck')")
    assert done(asked(REF)).crashed == 4
    write(here, comment="mended")
    assert done(asked(REF), retry_crashed=True).finished == 4


def test_what_a_policy_says_of_itself_counts_more_than_its_file(here: Path) -> None:
    write(here, identity="identity = 'weights-1'")
    assert done(asked(REF)).finished == 4
    write(here, identity="identity = 'weights-1'", comment="another word in a comment")
    assert done(asked(REF, rollouts=8)).finished == 4
    write(here, identity="identity = 'weights-2'")
    with pytest.raises(UserError, match="digest weights-2, weights-1 in the folder"):
        done(asked(REF, rollouts=12))


def test_digests_are_of_files_and_import_nothing(here: Path) -> None:
    package = here / "deep" / "er"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("raise SystemExit")
    (package / "policy.py").write_text("raise SystemExit")
    first = digest_of("python:deep.er.policy:make")
    assert len(first) == 12
    (package / "policy.py").write_text("raise KeyboardInterrupt")
    assert digest_of("python:deep.er.policy:make:argument") not in ("", first)
    for ref in ("python:not.there:make", "python::make", "python:math:make", "lerobot:~nobody/here", "x"):
        assert digest_of(ref) in ("", digest_of("python:math:make"))
    assert identity_of("planted:color", object()) == ""
