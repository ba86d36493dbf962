"""Whatever a policy does, it costs its own episodes: the others are run, and their rows are as ever."""

import json
from collections import Counter
from pathlib import Path

import pytest
from rollout_doubles import cases
from test_run import content

from heedful.rollouts.plan import plan
from heedful.rollouts.run import run
from heedful.rollouts.watch import Limits
from heedful.spec.case import PolicyEntry
from heedful.spec.rollout import EpisodeRow
from heedful.spec.run import RunSpec
from heedful.store.run_folder import RunFolder

QUICK = Limits(call_s=1.0, load_s=5.0, episode_s=20.0)


def rows(path: Path, how: str, count: int = 3, limits: Limits = QUICK) -> dict[str, EpisodeRow]:
    """Return the rows of red, blue, red for the policy that does ``how``, by case."""
    ref = f"python:evil_policies:Evil:{how}"
    wanted = RunSpec("double", {}, (PolicyEntry(ref, "evil"),), "double")
    with RunFolder.open(path, wanted) as folder:
        run(folder, plan(wanted, cases(count)), 1, limits=limits, compared={ref})
    lines = [json.loads(line)["id"] for line in (path / "episodes.jsonl").read_text().splitlines()]
    assert set(Counter(lines).values()) == {1} and len(lines) == count
    left = sorted(child.name for child in (path / "rollouts").iterdir())
    assert left == sorted(lines)  # every folder in its place, and no other
    return {row.case.id: row for row in RunFolder.open(path).rows()}


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("mute", "policy.act at step 0: Mute: its message cannot be read (ValueError)"),
        ("half-error", "policy.act at step 0: RuntimeError: caf\\udce9"),
        (
            "half",
            "policy.reset: ValueError: the instruction received has \\udc80 at character 4, "
            "which is half of a character and cannot be written",
        ),
        (
            "long",
            "policy.reset: ValueError: the instruction received has 16777216 characters; 20000 are the most",
        ),
        (
            "huge",
            "policy.act at step 0: the policy returned 1e+300 in action 0, number 0; "
            "none may be above 1e+06 in size",
        ),
        ("slow-numbers", "killed after 1 s in policy.act at step 0; tried 2 times"),
        ("orphan", "its worker process died (exit code 3); tried 2 times"),
    ],
)
def test_one_episode_crashes_with_one_line(tmp_path: Path, how: str, error: str) -> None:
    found = rows(tmp_path, how)
    assert {key: row.error for key, row in found.items()} == {"case/0": "", "case/1": error, "case/2": ""}
    (tmp_path / "rollouts" / found["case/1"].id / "error.txt").read_text()


def test_a_policy_that_never_goes_is_ended_at_the_limit_of_a_call(tmp_path: Path) -> None:
    found = rows(tmp_path, "lingers")
    assert found["case/1"].error.startswith("killed after 1 s in ending policy python:evil_policies")
    assert [found[f"case/{i}"].status for i in (0, 2)] == ["finished", "finished"]


def test_a_factory_that_interrupts_later_is_a_crash_of_the_episodes_that_need_it(tmp_path: Path) -> None:
    found = rows(tmp_path, "interrupted")
    assert found["case/1"].error.startswith("policy.act at step 0: Mute")
    assert found["case/2"].error.startswith(
        "loading the policy: Policy 'python:evil_policies:Evil:interrupted'"
    )
    assert "KeyboardInterrupt" in found["case/2"].error


@pytest.mark.parametrize("how", ["subclass", "fickle", "blocks", "chdir", "fork", "c-fork", "shallow"])
def test_what_need_not_harm_anybody_does_not(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows(Path("good"), "")
    rows(Path("evil"), how)

    def plain(path: str) -> list[object]:
        found = content(Path(path))
        return sorted((v[0].case.id, v[0].status, v[0].instruction_received, *v[1:]) for v in found.values())

    assert plain("evil") == plain("good")


def test_actions_that_no_robot_can_execute_as_they_are_said_are_counted(tmp_path: Path) -> None:
    found = rows(tmp_path, "wide")
    assert [found[f"case/{i}"].clipped for i in range(3)] == [0, 6, 0]
    assert found["case/1"].status == "finished" and found["case/1"].steps == 12
