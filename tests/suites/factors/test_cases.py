from collections import Counter, defaultdict
from pathlib import Path

import pytest

from heedful.spec.case import Case
from heedful.spec.codec import from_json, to_json
from heedful.spec.vocabulary import load_vocabulary
from heedful.suites.factors import make

VOCABULARY = load_vocabulary()
PAIRS = [b.name for b in VOCABULARY.bindings]


def conflicts(pair: str, rollouts: int = 400) -> list[Case]:
    options = {"pairs": pair, "rollouts": rollouts, "in_distribution": 0, "empty": 0}
    return make().cases(options)


@pytest.mark.parametrize("pair", PAIRS)
def test_conflicts_are_spread_evenly_in_whole_units(pair: str) -> None:
    cases = conflicts(pair)
    assert len(cases) == 400
    binding = VOCABULARY.binding(pair)
    carriers = tuple(binding.carriers)
    cells = Counter((c.scoring["value_pair"], *(c.instruction.values[f] for f in carriers)) for c in cases)
    n = len(binding.bound)
    assert len(cells) == n * (n - 1) // 2 * len(binding.carrier_choices())
    unit = 2 if "spatial" in pair else 4
    assert max(cells.values()) - min(cells.values()) <= unit
    assert set(Counter(c.scoring["quad"] for c in cases).values()) == {unit}
    assert len({c.scoring["cell"] for c in cases}) == n * (n - 1)


@pytest.mark.parametrize("pair", PAIRS)
def test_twins_and_swaps_ask_on_one_scene(pair: str) -> None:
    quads = defaultdict(list)
    for case in conflicts(pair, 40):
        quads[case.scoring["quad"]].append(case)
    for cases in quads.values():
        assert len({c.seed_key for c in cases}) == 1
        assert len({c.scene.objects for c in cases}) == 1
        assert len({c.instruction.text for c in cases}) == 2
        if "spatial" in pair:
            assert all(not c.scene.swap for c in cases)
        else:
            two = {o.name for o in cases[0].scene.objects[:2]}
            assert sorted(bool(c.scene.swap) for c in cases) == [False, False, True, True]
            assert all(set(c.scene.swap) in (set(), two) for c in cases)


def test_what_one_twin_calls_factor_1_the_other_calls_factor_2() -> None:
    a, _, b, _ = conflicts("color,object", 4)
    assert a.instruction.text == "grasp the red sphere"
    assert b.instruction.text == "grasp the yellow cube"
    assert (a.scoring["follows_1"], a.scoring["follows_2"]) == ("red-cube", "yellow-sphere")
    assert (b.scoring["follows_1"], b.scoring["follows_2"]) == ("yellow-sphere", "red-cube")
    assert a.scene.object("red-cube").shape == "cube"


def test_roles_in_a_conflict_with_the_verb() -> None:
    case = conflicts("color,verb", 4)[0]
    assert case.instruction.text == "lift the yellow cube"
    wanted = {"pair": "verb,color", "kind": "verb_object", "cell": "lift+yellow", "verb": "lift"}
    wanted |= {"target": "yellow", "bound": "red", "bound_verb": "grasp", "twin": "a", "places": "plain"}
    assert {k: case.scoring[k] for k in wanted} == wanted


@pytest.mark.parametrize("pair", PAIRS)
def test_no_object_satisfies_an_object_object_conflict_and_one_satisfies_a_verb_conflict(pair: str) -> None:
    binding = VOCABULARY.binding(pair)
    for case in conflicts(pair, 120):
        named = {f: v for f, v in case.instruction.values.items() if f in VOCABULARY.attributes}
        shown = {o.name: VOCABULARY.shown(o) for o in case.scene.objects}
        fits = [name for name, s in shown.items() if all(s[f] == v for f, v in named.items())]
        values = tuple(case.instruction.values[f] for f in binding.factors)
        assert values not in binding.bound
        if binding.kind == "object_object":
            assert fits == []
            for k, factor in enumerate(binding.factors):
                assert shown[case.scoring[f"follows_{k + 1}"]][factor] == values[k]
        else:
            assert fits == [case.scoring["target"]]
            bound = shown[case.scoring["bound"]][binding.factors[1]]
            assert (case.scoring["verb"], bound) in binding.bound
            assert (case.scoring["bound_verb"], values[1]) in binding.bound


def test_values_without_a_partner_appear_in_no_conflict() -> None:
    texts = " ".join(c.instruction.text for c in conflicts("color,spatial"))
    assert "black" not in texts
    assert "green" in texts


def test_more_rollouts_keep_the_cases_asked_before() -> None:
    suite = make()
    few = suite.cases({"pairs": "all", "rollouts": 44, "in_distribution": 10, "empty": 9})
    many = suite.cases({"pairs": "all", "rollouts": 100, "in_distribution": 33, "empty": 20})
    later = {c.id: c for c in many}
    assert len(later) == len(many)
    assert [later[c.id] for c in few] == few


def test_rollouts_are_rounded_up_to_whole_units() -> None:
    assert len(conflicts("color,object", 5)) == 8
    assert len(conflicts("color,spatial", 5)) == 6
    assert conflicts("color,object", 0) == []


@pytest.mark.parametrize("pair", PAIRS)
def test_the_empty_instruction_meets_scenes_of_the_conflict_arm(pair: str) -> None:
    cases = make().cases({"pairs": pair, "rollouts": 200, "in_distribution": 0, "empty": 60})
    asked = {c.id: c for c in cases if c.arm == "conflict"}
    empty = [c for c in cases if c.arm == "empty_instruction"]
    assert len(empty) == 60
    for case in empty:
        source = asked[case.id.removesuffix("/empty")]
        assert case.instruction.text == ""
        assert (case.scene, case.seed_key, case.scoring) == (source.scene, source.seed_key, source.scoring)
    assert len({(c.scene, c.seed_key) for c in empty}) == 60  # never the same question twice


def test_in_distribution_cases_are_fresh_scenes_of_the_training_combinations() -> None:
    suite = make()
    cases = [c for c in suite.cases({"pairs": "verb,size", "rollouts": 0}) if c.arm == "in_distribution"]
    tasks = suite.tasks({"pairs": "verb,size"})
    assert len(cases) == 120
    assert {c.instruction.text for c in cases} == {t.instruction.text for t in tasks}
    assert not {c.seed_key for c in cases} & {t.seed_key for t in tasks}


def test_demonstrations_cycle_through_combinations_and_carriers() -> None:
    tasks = make().tasks({"pairs": "object,verb", "demos": 300})
    assert set(Counter(t.instruction.text for t in tasks).values()) == {25}
    assert tasks[0].id == "verb-object/0000"
    assert make().tasks({"pairs": "object,verb", "demos": 30}) == tasks[:30]


def test_cases_survive_json() -> None:
    case = conflicts("size,verb", 4)[3]
    assert from_json(Case, to_json(case)) == case


def test_a_users_own_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "pizza.yaml"
    path.write_text(
        """
name: pizza
template: "{verb} the {topping} pizza at the {place}"
factors:
  - {name: verb, kind: action, values: [lift]}
  - {name: topping, attribute: color, values: [red, green, black]}
  - {name: place, attribute: region, values: [left, right, front]}
pairs:
  - factors: [topping, place]
    bound: [[red, left], [green, right], [black, front]]
    carriers: {verb: [lift]}
"""
    )
    given = {"vocabulary": str(path), "pairs": "all", "rollouts": 6, "in_distribution": 3, "empty": 0}
    cases = make().cases(make().options(given))
    assert len(cases) == 9
    assert cases[0].instruction.text == "lift the red pizza at the right"
    assert [(o.color, o.region, o.shape) for o in cases[0].scene.objects] == [
        ("red", "left", "cube"),
        ("green", "right", "cube"),
    ]
