import numpy as np
import pytest

from heedful.spec.vocabulary import load_vocabulary
from heedful.suites.factors import make
from heedful.suites.factors.scenes import conflict_scene, training_scene
from heedful.suites.sizes import ORDER, relation_holds

VOCABULARY = load_vocabulary()
PAIRS = [b.name for b in VOCABULARY.bindings]


@pytest.mark.parametrize(
    ("size", "others", "holds"),
    [
        ("small", [], True),
        ("large", ["largest"], True),
        ("smaller", [], False),
        ("smaller", ["smallest"], False),
        ("smaller", ["smallest", "small"], True),
        ("larger", ["largest"], False),
        ("larger", ["large"], True),
        ("smallest", [], False),
        ("smallest", ["smaller"], True),
        ("largest", ["larger", "small"], True),
    ],
)
def test_size_words_hold_as_relations(size: str, others: list[str], holds: bool) -> None:
    assert relation_holds(size, others) is holds


@pytest.mark.parametrize("pair", PAIRS)
def test_training_scenes_never_unbind_the_pair(pair: str) -> None:
    binding = VOCABULARY.binding(pair)
    tasks = make().tasks({"pairs": pair, "demos": 240})
    counts = np.zeros(5, dtype=int)
    for task in tasks:
        shown = [VOCABULARY.shown(o) for o in task.scene.objects]
        for factor in binding.object_factors:
            values = [s[factor] for s in shown]
            assert len(set(values)) == len(values)  # distractors differ from the target and each other
        if binding.kind == "object_object":
            assert all(tuple(s[f] for f in binding.factors) in binding.bound for s in shown)
        target = VOCABULARY.shown(task.scene.object(task.target))
        assert all(target[f] == v for f, v in task.instruction.values.items() if f in target)
        assert tuple({**target, VOCABULARY.action: task.verb}[f] for f in binding.factors) in binding.bound
        others = [o.size for o in task.scene.objects if o.name != task.target and o.size]
        size = task.scene.object(task.target).size
        assert size is None or relation_holds(size, others)
        assert sorted({o.size is None for o in task.scene.objects}) == [
            not any("size" in f for f in binding.factors)
        ]
        counts[len(task.scene.objects)] += 1
    assert counts[0] == 0
    assert (counts[1:] > 8).all()  # no, one, two and three distractors all occur


@pytest.mark.parametrize("pair", PAIRS)
def test_only_the_factors_of_the_pair_vary_in_a_scene(pair: str) -> None:
    binding = VOCABULARY.binding(pair)
    for case in make().cases({"pairs": pair, "rollouts": 120, "empty": 0}):
        shown = [VOCABULARY.shown(o) for o in case.scene.objects]
        differ = {f for f in VOCABULARY.attributes if len({s[f] for s in shown}) > 1}
        assert differ == (set(binding.object_factors) if len(shown) > 1 else set())


def test_what_is_never_named_says_nothing_about_the_pair() -> None:
    tasks = make().tasks({"pairs": "object,size", "demos": 1200})
    for value in VOCABULARY.grammar.factor("object").values:
        colors = [t.scene.object(t.target).color for t in tasks if t.instruction.values["object"] == value]
        share = np.array([colors.count(c) for c in VOCABULARY.grammar.factor("color").values]) / len(colors)
        assert share.min() > 0.08 and share.max() < 0.26  # one in six, of 200


def test_a_third_object_stands_only_where_a_size_word_needs_it() -> None:
    for pair in PAIRS:
        for case in make().cases({"pairs": pair, "rollouts": 120, "in_distribution": 0, "empty": 0}):
            two = [case.scene.objects[0], case.scene.objects[1]]
            needed = {o.size for o in two} in ({"smallest", "smaller"}, {"largest", "larger"})
            assert len(case.scene.objects) == (3 if needed else 2)
            for o in two:
                others = [p.size for p in case.scene.objects if p.name != o.name and p.size]
                assert o.size is None or relation_holds(o.size, others)


def test_the_same_seed_gives_the_same_scene() -> None:
    binding = VOCABULARY.binding("size,spatial")
    carriers = binding.carrier_choices()[1]
    drawn = [
        (
            training_scene(VOCABULARY, binding, binding.bound[1], carriers, np.random.default_rng(3)),
            conflict_scene(
                VOCABULARY, binding, (binding.bound[0], binding.bound[1]), carriers, np.random.default_rng(3)
            ),
        )
        for _ in range(2)
    ]
    assert drawn[0] == drawn[1]


def test_order_of_sizes_is_that_of_the_vocabulary() -> None:
    assert sorted(ORDER) == sorted(VOCABULARY.grammar.factor("size").values)
