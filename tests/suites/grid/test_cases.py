from collections import Counter, defaultdict
from itertools import combinations, islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.spec.case import Case
from heedful.spec.grammar import Factor
from heedful.spec.vocabulary import load_vocabulary
from heedful.suites.grid import make
from heedful.suites.grid.axes import Axes, make_axes
from heedful.suites.grid.cases import units

VOCABULARY = load_vocabulary()
NAMES = tuple(f.name for f in VOCABULARY.grammar.factors)
GRIDS = [",".join(names) for n in (1, 2, 3) for names in combinations(NAMES, n)]


def asked(factors: str, rollouts: int = 72, empty: int = 0) -> list[Case]:
    return make().cases({"factors": factors, "rollouts": rollouts, "empty": empty})


@pytest.mark.parametrize("factors", GRIDS)
def test_any_beginning_covers_the_grid_evenly(factors: str) -> None:
    axes = make_axes(VOCABULARY, factors.split(","))
    cells = tuple(axes.cells())
    everything = 1
    for factor in axes.factors:
        everything *= len(factor.values)
    assert len(set(cells)) == len(cells) == everything
    longest = max(len(f.values) for f in axes.factors)
    for start in range(0, len(cells), longest):
        for i, factor in enumerate(axes.factors):
            met = Counter(cell[i] for cell in cells[start : start + longest])
            assert len(met) == len(factor.values)
            assert max(met.values()) - min(met.values()) <= 1
    for n in (1, 7, everything, everything + 5):
        counts = Counter(unit.cell for unit in islice(units(axes), n))
        assert max(counts.values()) - min(counts[c] for c in cells) <= 1


@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_values_may_differ_in_number(sizes: list[int]) -> None:
    factors = tuple(Factor(f"f{i}", tuple(f"{i}{v}" for v in range(k))) for i, k in enumerate(sizes))
    cells = list(Axes(VOCABULARY, factors).cells())
    product = 1
    for k in sizes:
        product *= k
    assert len(cells) == len(set(cells)) == product


def test_every_cell_meets_every_carrier_before_one_comes_twice() -> None:
    axes = make_axes(VOCABULARY, ["size", "color"])
    met = Counter((u.cell, u.carriers["verb"], u.repeat) for u in islice(units(axes), 72))
    assert set(met.values()) == {1}
    assert {repeat for _, _, repeat in met} == {0}
    verbs = Counter(u.carriers["verb"] for u in islice(units(axes), 10))
    assert set(verbs.values()) == {5}


@pytest.mark.parametrize("factors", GRIDS)
def test_the_instruction_names_the_cell_and_only_the_target_fits_it(factors: str) -> None:
    for case in asked(factors):
        named = {f: v for f, v in case.instruction.values.items() if f in VOCABULARY.attributes}
        fits = [
            o.name for o in case.scene.objects if all(VOCABULARY.shown(o)[f] == v for f, v in named.items())
        ]
        assert fits == [case.scoring["target"]]
        axes = case.scoring["grid"].split(",")
        assert case.scoring["cell"] == "+".join(case.instruction.values[f] for f in axes)
        assert case.scoring["verb"] == case.instruction.values["verb"]


@pytest.mark.parametrize("factors", GRIDS)
def test_a_unit_is_asked_plain_and_swapped_unless_the_place_is_a_factor(factors: str) -> None:
    found = defaultdict(list)
    for case in asked(factors):
        found[case.scoring["unit"]].append(case)
    for unit in found.values():
        plain = unit[0]
        assert {c.seed_key for c in unit} == {plain.scoring["unit"]}
        assert len({c.scene.objects for c in unit}) == 1
        assert len({c.instruction.text for c in unit}) == 1
        if "spatial" in factors or factors == "verb":
            assert [c.scoring["places"] for c in unit] == ["plain"]
        else:
            assert [c.scoring["places"] for c in unit] == ["plain", "swapped"]
            two = (plain.scoring["target"], plain.scoring["other"])
            assert [c.scene.swap for c in unit] == [(), two]


def test_rollouts_are_rounded_up_to_whole_units() -> None:
    assert len(asked("color,object", 5)) == 6
    assert len(asked("color,spatial", 5)) == 5
    assert asked("color,object", 0) == []


def test_the_empty_instruction_meets_the_first_scenes_with_the_same_seeds() -> None:
    cases = asked("verb,color", 40, 10)
    grid = [c for c in cases if c.arm == "grid"]
    empty = [c for c in cases if c.arm == "empty_instruction"]
    assert len(empty) == 10
    for case, source in zip(empty, grid, strict=False):
        assert case.instruction.text == ""
        assert (case.scene, case.seed_key, case.scoring) == (source.scene, source.seed_key, source.scoring)


def test_factors_in_another_order_are_the_same_grid() -> None:
    assert asked("object,color", 20) == asked("color,object", 20)
    assert asked("spatial,size", 20) == asked("size,spatial", 20)


def test_a_users_own_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "pizza.yaml"
    path.write_text(
        """
name: pizza
template: "{verb} the {topping} pizza at the {place}"
factors:
  - {name: verb, kind: action, values: [lift]}
  - {name: topping, attribute: color, values: [red, green, black, orange]}
  - {name: place, attribute: region, values: [left, right, front]}
"""
    )
    given_ = {"vocabulary": str(path), "factors": "place,topping", "rollouts": 12, "empty": 0}
    cases = make().cases(make().options(given_))
    assert len({c.instruction.text for c in cases}) == len(cases) == 12
    assert all(c.instruction.text.startswith("lift the ") for c in cases)
    assert {o.shape for c in cases for o in c.scene.objects} == {"cube"}
