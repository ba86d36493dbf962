"""What every registered judge owes: abstaining is said, never guessed or raised."""

from __future__ import annotations

import pytest

from heedful.spec.case import Case, PolicyEntry
from heedful.spec.codec import from_json, to_json
from heedful.spec.plugins import load, registered
from heedful.spec.rollout import EpisodeRow, Rollout, Verdict
from heedful.spec.seams import Judge

POLICY = PolicyEntry("planted:x", "x")


@pytest.fixture(params=sorted(registered("heedful.judges")))
def judge(request: pytest.FixtureRequest) -> Judge:
    made: Judge = load("heedful.judges", request.param)()
    assert made.name == request.param
    return made


def a_case(judge: Judge) -> Case:
    """A case of the suite that the judge is named for, else of any."""
    suites = registered("heedful.suites")
    suite = load("heedful.suites", judge.name if judge.name in suites else next(iter(suites)))()
    case: Case = suite.cases(suite.options({}))[0]
    return case


def test_a_judge_abstains_with_a_reason_when_there_is_no_trajectory(judge: Judge) -> None:
    row = EpisodeRow("e", a_case(judge), POLICY, "crashed", "lift the cube", 0, error="the world broke")
    verdict = judge.judge(Rollout(row, None))
    assert verdict.label is None
    assert verdict.score is None
    assert verdict.reason
    assert (verdict.episode, verdict.judge) == ("e", judge.name)


def test_a_verdict_survives_json(judge: Judge) -> None:
    row = EpisodeRow("e", a_case(judge), POLICY, "crashed", "lift the cube", 0)
    verdict = judge.judge(Rollout(row, None))
    assert from_json(Verdict, to_json(verdict)) == verdict
