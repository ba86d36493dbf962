from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from heedful.spec.errors import UserError
from heedful.spec.vocabulary import Vocabulary, load_vocabulary
from heedful.suites.grid import make
from heedful.suites.grid.axes import make_axes
from heedful.suites.grid.scenes import asked_scene, training_scene
from heedful.suites.sizes import ORDER, relation_holds
from heedful.worlds.tabletop.placement import sample_places

VOCABULARY = load_vocabulary()
NAMES = tuple(f.name for f in VOCABULARY.grammar.factors)
GRIDS = [",".join(names) for n in (1, 2, 3, 5) for names in combinations(NAMES, n)]


@pytest.mark.parametrize("factors", GRIDS)
def test_each_confuser_differs_from_the_target_in_its_own_factor(factors: str) -> None:
    axes = make_axes(VOCABULARY, factors.split(","))
    by_place = "spatial" in factors
    for case in make().cases({"factors": factors, "rollouts": 36, "empty": 0}):
        target, *others = [VOCABULARY.shown(o) for o in case.scene.objects]
        assert len(others) == len(axes.object_factors)
        for factor, other in zip(axes.object_factors, others, strict=True):
            differ = {f for f in VOCABULARY.attributes if target[f] != other[f]}
            assert differ == ({factor, "spatial"} if by_place else {factor})
        places = [o.region for o in case.scene.objects]
        assert len(set(places)) == (len(places) if by_place else 1)


@pytest.mark.parametrize("factors", [g for g in GRIDS if "size" in g])
def test_the_size_word_is_true_among_the_objects_that_share_the_rest(factors: str) -> None:
    axes = make_axes(VOCABULARY, factors.split(","))
    number = axes.object_factors.index("size")
    for case in make().cases({"factors": factors, "rollouts": 72, "empty": 0}):
        target, *others = case.scene.objects
        confuser = others[number]
        assert target.size and confuser.size and relation_holds(target.size, [confuser.size])
        for other in others:
            rank = ORDER.index(str(other.size)) - ORDER.index(target.size)
            if target.size in ("smallest", "smaller"):
                assert rank >= 0
            if target.size in ("largest", "larger"):
                assert rank <= 0


@pytest.mark.parametrize("factors", GRIDS)
def test_training_scenes_hold_the_target_once_and_distractors_of_the_grid(factors: str) -> None:
    axes = make_axes(VOCABULARY, factors.split(","))
    counts: Counter[int] = Counter()
    for task in make().tasks({"factors": factors, "demos": 240}):
        shown = [VOCABULARY.shown(o) for o in task.scene.objects]
        named = [tuple(s[f] for f in axes.object_factors) for s in shown]
        assert len(set(named)) == len(named)  # no two alike
        assert task.scene.objects[0].name == task.target
        assert all(shown[0][f] == v for f, v in task.instruction.values.items() if f in shown[0])
        for factor in VOCABULARY.attributes:
            if factor not in axes.object_factors:
                assert len({s[factor] for s in shown}) == 1
        places = [o.region for o in task.scene.objects]
        assert len(set(places)) == len(places) if "spatial" in factors else set(places) == {None}
        size = task.scene.objects[0].size
        assert (size is None) == ("size" not in factors)
        assert size is None or relation_holds(size, [str(o.size) for o in task.scene.objects[1:]])
        counts[len(shown)] += 1
    if axes.object_factors:
        assert set(counts) == {1, 2, 3, 4} and min(counts.values()) > 8
    else:
        assert set(counts) == {1}


def test_distractors_are_uniform_over_all_other_combinations() -> None:
    axes = make_axes(VOCABULARY, ["color", "object"])
    rng = np.random.default_rng(0)
    met: Counter[str] = Counter()
    for _ in range(3000):
        met.update(o.name for o in training_scene(axes, ("red", "cube"), {}, rng).objects[1:])
    assert len(met) == 35 and "red-cube" not in met
    mean = sum(met.values()) / 35  # about 129
    assert max(abs(n - mean) for n in met.values()) < 5 * mean**0.5


def test_where_the_place_is_a_factor_distractors_are_uniform_over_the_other_places() -> None:
    axes = make_axes(VOCABULARY, ["color", "spatial"])
    rng = np.random.default_rng(0)
    met: Counter[str] = Counter()
    for _ in range(3000):
        met.update(o.name for o in training_scene(axes, ("red", "left"), {}, rng).objects[1:])
    assert len(met) == 24 and all("left" not in name for name in met)
    mean = sum(met.values()) / 24
    assert max(abs(n - mean) for n in met.values()) < 5 * mean**0.5


@pytest.mark.parametrize("factors", GRIDS)
def test_every_scene_finds_room_on_the_table(factors: str) -> None:
    for case in make().cases({"factors": factors, "rollouts": 120, "empty": 0}):
        assert len(sample_places(case.scene, np.random.default_rng(1))) == len(case.scene.objects)
    for task in make().tasks({"factors": factors, "demos": 120}):
        assert len(sample_places(task.scene, np.random.default_rng(1))) == len(task.scene.objects)


def test_the_same_seed_gives_the_same_scene() -> None:
    axes = make_axes(VOCABULARY, ["size", "spatial"])
    for scene in (training_scene, asked_scene):
        drawn = [
            scene(axes, ("smaller", "left"), {"object": "cube"}, np.random.default_rng(3)) for _ in range(2)
        ]
        assert drawn[0] == drawn[1]


def own(values: str) -> Vocabulary:
    from heedful.spec.grammar import Factor, Grammar

    factors = (
        Factor("verb", ("lift",), "action"),
        Factor("size", tuple(values.split())),
        Factor("spatial", ("left", "right")),
        Factor("color", ("red", "blue")),
    )
    grammar = Grammar("own", "{verb} the[ {size}][ {color}] cube[ on the {spatial}]", factors)
    return Vocabulary(grammar, {"size": "size", "spatial": "region", "color": "color"}, ())


def test_what_no_scene_can_show_is_said_in_one_line() -> None:
    rng = np.random.default_rng(0)
    largest = make_axes(own("largest"), ["size", "color"])
    with pytest.raises(UserError, match="no scene makes the size word of largest\\+red true"):
        training_scene(largest, ("largest", "red"), {}, rng)
    smaller = make_axes(own("smaller smallest"), ["size"])
    with pytest.raises(UserError, match="no other size makes 'smaller' true"):
        asked_scene(smaller, ("smaller",), {}, rng)
    crowded = make_axes(own("small large"), ["size", "spatial", "color"])
    with pytest.raises(UserError, match="needs a spatial of its own .* there are only 2"):
        asked_scene(crowded, ("small", "left", "red"), {}, rng)
