"""A policy is not asked silently about what it was never taught."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from heedful.rollouts.plan import plan
from heedful.spec.case import PolicyEntry
from heedful.spec.run import RunSpec
from heedful.spec.vocabulary import load_vocabulary
from heedful.suites.paraphrase.options import taught_instructions
from heedful.workflows.running import beforehand, resolve
from heedful.workflows.taught import untaught

FEW = {"rollouts": 4, "empty": 2}


def trained(folder: Path, texts: Sequence[str]) -> PolicyEntry:
    folder.mkdir(exist_ok=True)
    (folder / "policy.json").write_text(json.dumps({"seed": 0, "taught": list(texts)}))
    return PolicyEntry(f"reference:{folder}", "mine")


def of_pairs(*pairs: str) -> list[str]:
    return [text for pair in pairs for text in taught_instructions(load_vocabulary(), pair)]


def said(policy: PolicyEntry, suite: str, **options: object) -> str:
    [words] = untaught(*resolve(RunSpec(suite, {**FEW, **options}, (policy,))))
    return words


@pytest.mark.parametrize(
    ("suite", "options"),
    [
        ("factors", {"pairs": "color,object"}),
        ("paraphrase", {"pairs": "color,object"}),
        ("grid", {"factors": "color,object"}),
    ],
)
def test_every_suite_knows_what_its_pair_needs(
    suite: str, options: dict[str, object], tmp_path: Path
) -> None:
    assert said(trained(tmp_path, of_pairs("color,object")), suite, **options) == ""
    assert (
        said(trained(tmp_path, of_pairs("verb,size")), suite, **options)
        == "was not taught color,object (taught: verb,size)"
    )


@pytest.mark.parametrize("pair", [binding.name for binding in load_vocabulary().bindings])
def test_a_policy_answers_for_its_own_pair_and_for_no_other(pair: str, tmp_path: Path) -> None:
    policy = trained(tmp_path, of_pairs(pair))
    others = [binding.name for binding in load_vocabulary().bindings if binding.name != pair]
    assert said(policy, "factors", pairs=pair) == ""
    assert said(policy, "factors", pairs="all") == f"was not taught {' and '.join(others)} (taught: {pair})"


def test_what_is_lacking_of_a_pair_is_named(tmp_path: Path) -> None:
    policy = trained(tmp_path, of_pairs("color,object")[:4])
    assert said(policy, "factors", pairs="color,object") == (
        "was not taught color,object: not green, black, pyramid, star "
        "(taught: 4 instructions, such as 'grasp the red cube')"
    )
    assert "was not taught verb,color,object (taught: color,object)" == said(
        trained(tmp_path, of_pairs("color,object")), "grid", factors="verb,color,object"
    )


def test_only_what_a_policy_meets_counts(tmp_path: Path) -> None:
    entry = trained(tmp_path, of_pairs("color,object"))
    only = PolicyEntry(entry.ref, entry.name, only={"pair": "color,object"})
    assert said(only, "factors", pairs="all") == ""


def test_who_does_not_say_what_it_was_taught_is_left_alone(tmp_path: Path) -> None:
    damaged = trained(tmp_path / "damaged", ())
    (tmp_path / "damaged" / "policy.json").write_text("{")
    for entry in (damaged, PolicyEntry("planted:color", "p"), PolicyEntry("reference:/not/there", "q")):
        assert said(entry, "factors", pairs="color,object") == ""


def test_words_of_another_vocabulary_are_told_as_they_are(tmp_path: Path) -> None:
    policy = trained(tmp_path, ["open the drawer"])
    spec = RunSpec("factors", {**FEW, "pairs": "color,object"}, (policy,))
    resolved, cases = resolve(spec)
    _, (sentence,) = beforehand(resolved, cases, plan(resolved, cases))
    assert sentence.startswith("policy 'mine' was not taught color,object: not red, yellow")
    assert "(taught: 'open the drawer')" in sentence
