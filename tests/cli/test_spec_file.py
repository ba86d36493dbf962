from __future__ import annotations

from pathlib import Path

import pytest

from heedful.cli.requests import diagnosis, run_spec
from heedful.cli.spec_file import merged
from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError

KEYS = ("suite", "options", "seed")


def test_settings_win_over_the_file_and_options_over_both(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("suite: a\nseed: 1\noptions: {rollouts: 4, empty: 2}\n")
    found = merged(
        file, ["options.rollouts=8", "options.deep.er=[1, 2]", "seed=2"], {"suite": "b", "seed": None}, KEYS
    )
    assert found == {
        "suite": "b",
        "seed": 2,
        "options": {"rollouts": 8, "empty": 2, "deep": {"er": [1, 2]}},
    }


def test_given_mappings_are_merged_and_empty_ones_left_out() -> None:
    assert merged(None, ["options.a=1"], {"options": {"b": 2, "c": None}}, KEYS) == {
        "options": {"a": 1, "b": 2}
    }
    assert merged(None, [], {"options": {"c": None}}, KEYS) == {}


@pytest.mark.parametrize(
    ("content", "setting", "said"),
    [
        ("suit: a", "seed=1", "Did you mean 'suite'"),
        ("- a", "seed=1", "must be a mapping"),
        ("suite: [", "seed=1", "not valid YAML"),
        ("suite: a", "seed", "KEY=VALUE"),
        ("suite: a", "suite.x=1", "is no mapping"),
        ("suite: a", "optoins.x=1", "Did you mean 'options'"),
        ("suite: a", "options=3", "options must be a mapping of keys to values, not 3"),
    ],
)
def test_mistakes_are_one_clear_line(tmp_path: Path, content: str, setting: str, said: str) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(content)
    with pytest.raises(UserError, match=said) as refused:
        merged(file, [setting], {"options": {"rollouts": 2}}, KEYS)
    assert "\n" not in str(refused.value)


def test_a_spec_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match=r"nowhere\.yaml: No such file"):
        merged(Path("nowhere.yaml"), [], {}, KEYS)


def test_policies_of_a_spec_are_references_or_entries() -> None:
    spec = run_spec(
        None,
        ["policies=['planted:a', {ref: 'python:m:f', name: mine, training_seed: 3}, {ref: 'x:y'}]"],
        {"suite": "factors", "options": {"rollouts": 8}},
    )
    assert spec.suite == "factors"
    assert spec.options == {"rollouts": 8}
    assert spec.policies == (
        PolicyEntry("planted:a", "planted:a"),
        PolicyEntry("python:m:f", "mine", 3),
        PolicyEntry("x:y", "x:y"),
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ([], "No policies: name one with --policy"),
        (["policies=planted:x"], "list of policy references"),
        (["policies=[{ref: a, nam: b}]"], "Did you mean 'name'"),
        (["policies=[{name: b}]"], "ref"),
        (["policies=[a]", "base_seed=one"], "base_seed must be a whole number, not 'one'"),
        (["policies=[a]", "base_seed=true"], "base_seed must be a whole number, not True"),
        (["policies=[a]", "base_seed=1.5"], "base_seed must be a whole number, not 1.5"),
        (["policies=[a]", "base_seed="], "base_seed must be a whole number, not None"),
        (["policies=[a]", "base_seed=-1"], "base_seed is -1; it cannot be negative"),
        (["policies=[{ref: a, training_seed: true}]"], "policy a: training_seed must be a whole number"),
        (["policies=[5]"], "entry 1 must be a policy reference, not 5"),
        (["policies=[{ref: a, only: 3}]"], "only: must be a mapping of keys to values, not 3"),
        (["policies=[a]", "options=3"], "options: must be a mapping of keys to values, not 3"),
        (["policies=[a]", "world=3"], "world: must be a text, not 3"),
    ],
)
def test_a_run_without_sense_is_refused(settings: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        run_spec(None, settings, {"suite": "factors"})


def test_a_diagnosis_takes_single_values_as_lists_and_keeps_defaults() -> None:
    asked = diagnosis(None, ["encoders=gru", "training_seeds=4"], {"pairs": "all", "demos": None})
    assert asked.encoders == ("gru",)
    assert asked.training_seeds == (4,)
    assert asked.pairs == ("all",)
    assert asked.demos is None


def test_a_diagnosis_counts_in_whole_numbers() -> None:
    with pytest.raises(UserError, match="demos must be a whole number, not True"):
        diagnosis(None, ["demos=true"], {})
    with pytest.raises(UserError, match="training_seeds is -1; it cannot be negative"):
        diagnosis(None, ["training_seeds=[0, -1]"], {})


def test_a_diagnosis_suggests_the_nearest_key() -> None:
    with pytest.raises(UserError, match="Did you mean 'rollouts'"):
        diagnosis(None, ["rolouts=3"], {})
