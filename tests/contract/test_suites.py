"""What every registered suite owes to the rest of the house."""

from __future__ import annotations

import json

import pytest

from heedful.spec.case import Case
from heedful.spec.codec import from_json, to_json
from heedful.spec.errors import UserError
from heedful.spec.plugins import load, registered
from heedful.spec.seams import Suite


@pytest.fixture(params=sorted(registered("heedful.suites")))
def suite(request: pytest.FixtureRequest) -> Suite:
    made: Suite = load("heedful.suites", request.param)()
    assert made.name == request.param
    return made


def test_resolved_options_resolve_to_themselves_and_are_json(suite: Suite) -> None:
    resolved = suite.options({})
    assert suite.options(resolved) == resolved
    assert json.loads(json.dumps(resolved)) == resolved


def test_an_unknown_option_is_refused_with_the_nearest_one(suite: Suite) -> None:
    name = next(iter(suite.options({})))
    with pytest.raises(UserError, match=rf"Did you mean '{name}'"):
        suite.options({name + "x": 1})


def test_cases_are_unique_repeatable_and_survive_json(suite: Suite) -> None:
    cases = suite.cases(suite.options({}))
    assert cases
    assert len({case.id for case in cases}) == len(cases)
    assert cases == suite.cases(suite.options({}))
    for case in cases:
        assert case.suite == suite.name
        assert from_json(Case, json.loads(json.dumps(to_json(case)))) == case


def test_asking_for_more_rollouts_adds_cases_and_changes_none(suite: Suite) -> None:
    if "rollouts" not in suite.options({}):
        pytest.skip("this suite has no option rollouts")
    few = {case.id: case for case in suite.cases(suite.options({"rollouts": 24}))}
    more = {case.id: case for case in suite.cases(suite.options({"rollouts": 72}))}
    assert len(more) > len(few)
    assert {key: more.get(key) for key in few} == few


def test_what_is_asked_is_asked_without_words_too_on_the_same_scenes(suite: Suite) -> None:
    arms: dict[str, list[Case]] = {}
    for case in suite.cases(suite.options({})):
        arms.setdefault(case.arm, []).append(case)
    wordless = arms.pop("empty_instruction")
    assert arms
    assert all(case.instruction.text == "" for case in wordless)
    assert all(case.instruction.text for asked in arms.values() for case in asked)
    seen = {(case.seed_key, case.scene) for asked in arms.values() for case in asked}
    assert {(case.seed_key, case.scene) for case in wordless} <= seen


def test_demonstration_tasks_are_unique_and_name_what_stands_in_their_scene(suite: Suite) -> None:
    tasks = suite.tasks(suite.options({}))
    assert len({task.id for task in tasks}) == len(tasks) > 0
    for task in tasks:
        assert task.instruction.text
        assert task.target in {thing.name for thing in task.scene.objects}


def test_the_summary_of_nothing_is_json_without_invented_numbers(suite: Suite) -> None:
    summary = suite.summarise([], {}, suite.options({}))
    assert "NaN" not in json.dumps(summary)
