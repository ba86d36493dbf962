from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.metrics.pride import (
    ALPHAS,
    keyword_similarity,
    paraphrase_distance,
    pride,
    pride_estimate,
    pride_sweep,
    structural_similarity,
)
from heedful.metrics.rates import wilson
from heedful.spec.syntax import Tree

X, Y, DIAGONAL = (np.asarray(v, dtype=np.float32) for v in ((1, 0), (0, 1), (0.6, 0.8)))
NONE = np.empty((0, 2), dtype=np.float32)


def seeded() -> np.random.Generator:
    return np.random.default_rng(0)


def test_each_original_keyword_looks_for_its_nearest() -> None:
    original, paraphrase = np.stack([X, Y]), np.stack([X, DIAGONAL])
    assert keyword_similarity(original, paraphrase) == pytest.approx((1 + 0.8) / 2)
    assert keyword_similarity(paraphrase, original) == pytest.approx((1 + 0.8) / 2)
    # What the paraphrase adds costs nothing; what it leaves out does.
    assert keyword_similarity(X[None], paraphrase) == pytest.approx(1)
    assert keyword_similarity(paraphrase, X[None]) == pytest.approx((1 + 0.6) / 2)


def test_without_keywords_nothing_is_similar() -> None:
    assert keyword_similarity(NONE, X[None]) == keyword_similarity(X[None], NONE) == 0
    assert keyword_similarity(NONE, NONE) == 0


def test_structure() -> None:
    tree = Tree.of("a", Tree.of("b"), Tree.of("c"))
    assert structural_similarity(tree, tree) == 1
    assert structural_similarity(tree, Tree.of("a", Tree.of("b"))) == pytest.approx(1 - 1 / 5)
    assert structural_similarity(tree, Tree()) == structural_similarity(Tree(), tree) == 0
    assert structural_similarity(Tree(), Tree()) == 1


def test_distance_is_a_blend_and_never_below_zero() -> None:
    assert paraphrase_distance(0.5, 0.9, 0.25) == pytest.approx(1 - (0.125 + 0.675))
    assert paraphrase_distance(1.0000001, 1.0) == 0
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1"):
        paraphrase_distance(1, 1, 1.01)


def test_far_words_count_more() -> None:
    assert pride([1, 0], [0.3, 0.1]) == pytest.approx(75)
    assert pride([0, 1], [0.3, 0.1]) == pytest.approx(25)
    assert pride([1, 1], [0.3, 0.1]) == pytest.approx(100)
    assert pride([1, 0], [0, 0]) is None
    assert pride([], []) is None


@given(st.lists(st.tuples(st.integers(0, 1), st.floats(0.01, 1), st.integers(0, 5)), min_size=1, max_size=40))
def test_the_interval_holds_the_value_and_stays_in_range(rows: list[tuple[int, float, int]]) -> None:
    successes, distances, tasks = (list(column) for column in zip(*rows, strict=True))
    found = pride_estimate(successes, distances, tasks, seeded(), draws=50)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert -1e-9 <= found.low <= found.value + 1e-9 <= found.high + 2e-9 <= 100 + 3e-9
    assert found.n == len(rows)


def test_all_right_is_not_certain() -> None:
    tasks = [f"task {i}" for i in range(10) for _ in range(20)]
    found = pride_estimate([1] * 200, [0.3] * 200, tasks, seeded())
    assert found.value == pytest.approx(100)
    assert found.low is not None
    assert found.low < 99
    assert found.method == "bootstrap over 10 original instructions"


def test_one_task_is_worth_one_observation() -> None:
    found, lone = pride_estimate([1, 0, 1], [0.5] * 3, ["same"] * 3, seeded()), wilson(1, 1)
    assert lone.low is not None
    assert found.low is not None
    assert found.low < 100 * lone.low + 1
    assert found.high is not None
    assert found.high > 95


def test_equal_weights_and_lone_episodes_are_nearly_wilson() -> None:
    rng = np.random.default_rng(1)
    successes = rng.random(400) < 0.7
    found = pride_estimate(successes, [0.25] * 400, range(400), seeded())
    plain = wilson(int(successes.sum()), 400)
    assert found.value == pytest.approx(100 * float(successes.mean()))
    for ours, theirs in ((found.low, plain.low), (found.high, plain.high)):
        assert ours is not None
        assert theirs is not None
        assert ours == pytest.approx(100 * theirs, abs=0.5)


def test_unequal_weights_are_worth_fewer_episodes() -> None:
    successes = [i % 2 for i in range(400)]
    even = pride_estimate(successes, [0.25] * 400, range(400), seeded())
    uneven = pride_estimate(successes, [0.9 if i < 20 else 0.01 for i in range(400)], range(400), seeded())
    assert _width(uneven.low, uneven.high) > 2.5 * _width(even.low, even.high)


def test_the_interval_allows_for_tasks_that_go_together() -> None:
    tasks = [i // 40 for i in range(400)]
    split = [int(task < 5) for task in tasks]  # five tasks always right, five always wrong
    mixed = [i % 2 for i in range(400)]
    clustered, free = (pride_estimate(s, [0.25] * 400, tasks, seeded()) for s in (split, mixed))
    assert clustered.value == pytest.approx(50)
    assert _width(clustered.low, clustered.high) > 50
    assert _width(free.low, free.high) < 15


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Tasks of different difficulty and distance; the truth is the ratio of expectations."""
    rng = np.random.default_rng(2)
    held, trials, tasks = 0, 600, 20
    chances, spreads = rng.beta(4, 2, 20_000), rng.uniform(0.1, 0.5, 20_000)
    weights = chances * 0.2 + spreads  # hard tasks are near ones: rates and weights go together
    truth = 100 * float((chances * weights).sum() / weights.sum())
    for _ in range(trials):
        drawn = rng.integers(20_000, size=tasks)
        labels = np.repeat(np.arange(tasks), 15)
        success = rng.random(tasks * 15) < chances[drawn][labels]
        distance = weights[drawn][labels] * rng.uniform(0.5, 1.5, tasks * 15)
        found = pride_estimate(success, distance, labels.tolist(), rng, draws=400)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert 0.92 <= held / trials <= 0.985


def test_the_sweep_blends_the_two_similarities() -> None:
    successes, keyword, structural = [1, 0, 1], [0.9, 0.2, 0.5], [0.3, 0.8, 0.5]
    swept = pride_sweep(successes, keyword, structural, ["a", "b", "c"], seeded())
    assert tuple(swept) == ALPHAS == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
    assert swept[0].value == pytest.approx(100 * (0.7 + 0.5) / (0.7 + 0.2 + 0.5))
    assert swept[1].value == pytest.approx(100 * (0.1 + 0.5) / (0.1 + 0.8 + 0.5))
    assert swept == pride_sweep(successes, keyword, structural, ["a", "b", "c"], seeded())


def _width(*ends: float | None) -> float:
    low, high = _numbers(ends)
    return high - low


def _numbers(ends: Sequence[float | None]) -> list[float]:
    return [end for end in ends if end is not None]
