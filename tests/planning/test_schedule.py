from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning_doubles import NAMES, grid

from heedful.planning.schedule import make_plan, minimum_changes, spread
from heedful.planning.strategies import STRATEGIES, expected_step
from heedful.spec.carriers import default_carriers
from heedful.spec.errors import UserError
from heedful.spec.grammar import Grammar
from heedful.spec.grammar_file import load_grammar
from heedful.spec.plan import Plan
from heedful.spec.vocabulary import load_vocabulary

TABLETOP = load_vocabulary()


def plan(strategy: str, *sizes: int, demos: int, changes: int | None = None, **more: object) -> Plan:
    """Return a plan over a grid of ``sizes``."""
    factors = grid(*sizes).factors
    grammar = Grammar("made", " ".join("{" + f.name + "}" for f in factors), factors)
    names = [f.name for f in factors]
    return make_plan("made", grammar, names, strategy, demos, changes, NAMES, **more)  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(2, 5), min_size=1, max_size=3),
    st.sampled_from(STRATEGIES),
    st.integers(0, 25),
    st.integers(0, 40),
    st.integers(0, 3),
)
def test_f_and_n_are_reached_exactly_and_evenly(
    sizes: list[int], strategy: str, extra: int, more: int, seed: int
) -> None:
    changes = minimum_changes(strategy, grid(*sizes), NAMES) + extra
    made = plan(strategy, *sizes, demos=1500 + more, changes=changes, seed=seed)
    assert made.changes == changes
    assert len(made.rows) == 1500 + more
    counts = made.demonstrations().values()
    assert max(counts) - min(counts) <= 1
    assert all(one != other for one, other in pairwise(made.visits))
    assert plan(strategy, *sizes, demos=1500 + more, changes=changes, seed=seed) == made


@pytest.mark.parametrize("strategy", ["l", "v", "v-full"])
def test_unvisited_cells_are_added_before_any_is_visited_again(strategy: str) -> None:
    made = plan(strategy, 6, 6, demos=400, changes=36)
    assert len(set(made.visits)) == len(made.visits)
    own = plan(strategy, 6, 6, demos=400)
    assert made.visits[: len(own.visits)] == own.visits
    assert made.visits[len(own.visits) :] == made.added
    assert own.added == ()
    assert plan(strategy, 6, 6, demos=400, changes=36, seed=1).added != made.added


def test_a_grid_that_is_covered_is_visited_again_evenly() -> None:
    made = plan("complete", 3, 3, demos=90, changes=40)
    stays = Counter(made.visits)
    assert made.changes == 40
    assert len(stays) == 9
    assert max(stays.values()) - min(stays.values()) <= 2
    assert set(made.demonstrations().values()) == {10}


def test_random_draws_are_uniform_and_cost_what_the_closed_form_says() -> None:
    steps, starts = [], Counter[tuple[str, ...]]()
    for seed in range(400):
        made = plan("random", 4, 3, 5, demos=60, changes=60, seed=seed)
        first = made.visits[:15]  # far from the end, where draws that overshoot are left out
        assert len(set(first)) == 15
        starts[first[7]] += 1
        steps += [sum(a != b for a, b in zip(*two, strict=True)) for two in pairwise(first)]
    error = np.std(steps) / np.sqrt(len(steps))
    assert abs(np.mean(steps) - expected_step([4, 3, 5])) < 4 * error
    assert expected_step([4, 3, 5]) - expected_step([4, 3, 5], replacement=True) > 4 * error  # they differ
    chi_square = sum((starts[c] - 400 / 60) ** 2 / (400 / 60) for c in grid(4, 3, 5).cells())
    assert chi_square < 110  # 59 degrees of freedom: beyond 110 with probability below 1e-4


def test_a_longer_random_plan_goes_on_from_a_shorter_one() -> None:
    short = plan("random", 6, 6, demos=200, changes=12)
    long = plan("random", 6, 6, demos=200, changes=24)
    assert short.added == ()
    assert long.visits[: len(short.visits) - 2] == short.visits[:-2]


@pytest.mark.parametrize(("strategy", "cells", "changes"), [("l", 11, 10), ("v", 15, 14), ("v-full", 24, 23)])
def test_without_changes_a_plan_takes_the_least(strategy: str, cells: int, changes: int) -> None:
    made = make_plan("tabletop", TABLETOP, ("color", "object"), strategy, 200)
    assert (len(made.cells), made.changes) == (cells, changes)
    assert made.order == ("color", "object")
    assert made.grid.base == ("red", "cube")


def test_the_base_is_the_users_choice() -> None:
    made = make_plan("tabletop", TABLETOP, ("object", "color"), "l", 50, base=("cup", "green"))
    assert made.grid.base == ("cup", "green")
    assert all(cell[0] == "cup" or cell[1] == "green" for cell in made.cells)
    with pytest.raises(UserError, match="Unknown value of factor object 'green'"):
        make_plan("tabletop", TABLETOP, ("object", "color"), "l", 50, base=("green", "cup"))


def test_carriers_take_turns_within_a_cell() -> None:
    made = make_plan("tabletop", TABLETOP, ("color", "object"), "l", 55)
    first = [row for row in made.rows if row.configuration == made.visits[0]]
    assert [row.carriers["verb"] for row in first] == ["grasp", "lift", "grasp", "lift", "grasp"]
    assert [row.repeat for row in first] == [0, 0, 1, 1, 2]
    assert first[1].instruction.text == f"lift the {' '.join(first[1].configuration)}"
    keys = [(row.configuration, *row.carriers.values(), row.repeat) for row in made.rows]
    assert len(set(keys)) == len(keys)


def test_demonstrations_of_a_cell_that_is_visited_again_are_different_ones() -> None:
    made = make_plan("tabletop", TABLETOP, ("color", "object"), "complete", 400, 90)
    keys = [(row.configuration, *row.carriers.values(), row.repeat) for row in made.rows]
    assert len(set(keys)) == len(keys)


def test_carriers_are_those_of_the_training_set_or_what_the_template_demands() -> None:
    grammar, bindings = TABLETOP.grammar, TABLETOP.bindings
    assert default_carriers(grammar, ("object", "verb"), bindings) == {"color": ("yellow", "red")}
    assert default_carriers(grammar, ("color", "object"), bindings) == {"verb": ("grasp", "lift")}
    assert default_carriers(grammar, ("color", "size", "spatial"), bindings) == {
        "verb": ("grasp", "lift"),
        "object": ("cube", "sphere"),
    }
    assert default_carriers(grammar, NAMES, bindings) == {}
    cup = load_grammar("cup").grammar
    assert default_carriers(cup, ("color",)) == {"verb": ("lift",)}
    pizza = load_grammar("pizza").grammar
    assert default_carriers(pizza, ("spatial",)) == {"object": ("tomato",)}


def test_a_budget_below_the_minimum_says_the_minimum() -> None:
    with pytest.raises(
        UserError, match=r"v needs at least 14 factor changes over color, object; 12 is asked"
    ):
        make_plan("tabletop", TABLETOP, ("color", "object"), "V", 200, 12)
    with pytest.raises(UserError, match="random has no f of its own"):
        make_plan("tabletop", TABLETOP, ("color", "object"), "random", 200)
    with pytest.raises(UserError, match="14 demonstrations are too few for 15 cells; 15 is the smallest"):
        make_plan("tabletop", TABLETOP, ("color", "object"), "v", 14)
    with pytest.raises(UserError, match="one cell only"):
        plan("l", 1, 1, demos=5, changes=1)
    with pytest.raises(UserError, match="needs different factors"):
        make_plan("tabletop", TABLETOP, ("color", "color"), "v", 100)
    with pytest.raises(UserError, match="Did you mean 'color'"):
        make_plan("tabletop", TABLETOP, ("colour", "object"), "v", 100)


def test_a_grid_too_large_to_write_out_is_refused_where_it_would_be() -> None:
    assert len(plan("v", 300, 300, 300, demos=2000).cells) < 2000
    with pytest.raises(UserError, match="27,000,000 cells, too many"):
        plan("complete", 300, 300, 300, demos=2000)
    with pytest.raises(UserError, match="27,000,000 cells, too many"):
        plan("l", 300, 300, 300, demos=2000, changes=1000)


@settings(max_examples=80)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=25), st.integers(0, 60))
def test_spread_gives_every_stay_one_and_says_the_smallest_number(path: list[int], demos: int) -> None:
    visits = [(str(cell),) for cell in path]
    try:
        counts = spread(visits, demos)
    except UserError as error:
        smallest = int(str(error).split("; ")[1].split()[0])
        assert demos < smallest
        spread(visits, smallest)
        with pytest.raises(UserError):
            spread(visits, smallest - 1)
        return
    assert sum(counts) == demos
    assert min(counts) >= 1
    own: Counter[tuple[str, ...]] = Counter()
    for cell, count in zip(visits, counts, strict=True):
        own[cell] += count
    assert max(own.values()) - min(own.values()) <= 1


def test_minimum_changes_of_every_strategy() -> None:
    one = grid(6, 6)
    assert [minimum_changes(s, one, NAMES) for s in STRATEGIES] == [35, 0, 10, 14, 23]
