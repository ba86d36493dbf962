import numpy as np
import pytest

from heedful.metrics.bootstrap import clustered_mean, clustered_rate, effective_rate
from heedful.metrics.rates import wilson


def test_unclustered_rollouts_are_worth_themselves() -> None:
    rng = np.random.default_rng(1)
    outcomes = rng.integers(0, 2, 400).tolist()
    found = effective_rate(outcomes, [1] * 400, list(range(400)), rng, draws=4000)
    assert found.effective_n == pytest.approx(400, rel=0.1)


def test_copies_add_nothing_but_the_clusters() -> None:
    once = [1, 0, 1, 1, 0, 1, 0, 1, 1, 0]
    rng = np.random.default_rng(2)
    found = effective_rate([20 * x for x in once], [20] * 10, list(range(10)), rng, draws=4000)
    assert found.trials == 200
    assert found.effective_n == pytest.approx(9, rel=0.1)


def test_clusters_that_all_agree_keep_a_width_close_to_that_of_all_but_one() -> None:
    tasks = list("abcdefgh")
    found = clustered_rate([50] * 8, [50] * 8, tasks, np.random.default_rng(0), named="tasks")
    nearly = clustered_rate([49] + [50] * 7, [50] * 8, tasks, np.random.default_rng(0), named="tasks")
    naive = wilson(400, 400)
    assert found.value == found.high == 1.0
    assert found.low is not None and nearly.low is not None and naive.low is not None
    assert nearly.low < found.low <= naive.low < 1
    assert found.low - nearly.low < 0.02
    assert found.method == "bootstrap over 8 tasks"


def test_a_lone_cluster_is_one_observation() -> None:
    found = effective_rate([70], [100], ["only"], np.random.default_rng(0))
    assert (found.clusters, found.effective_n) == (1, 1.0)


def test_rows_without_trials_and_repeated_keys_change_nothing() -> None:
    plain = clustered_rate([3, 1], [4, 4], ["a", "b"], np.random.default_rng(3))
    split = clustered_rate([1, 0, 2, 1], [2, 0, 2, 4], ["a", "c", "a", "b"], np.random.default_rng(3))
    assert (plain.value, plain.low, plain.high, plain.n) == (split.value, split.low, split.high, split.n)


def test_nothing_tried_is_undefined() -> None:
    found = clustered_rate([0], [0], ["a"], np.random.default_rng(0))
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)


def test_the_mean_has_the_standard_error_of_its_clusters() -> None:
    rng = np.random.default_rng(4)
    means = rng.normal(size=30)
    found = clustered_mean(np.repeat(means, 50), np.repeat(np.arange(30), 50).tolist(), rng, draws=8000)
    assert found.value == pytest.approx(means.mean())
    assert found.high is not None and found.low is not None
    half = 2.0452 * means.std(ddof=1) / np.sqrt(30)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.05)


def test_one_cluster_gives_a_mean_without_an_interval() -> None:
    found = clustered_mean([1.0, 3.0], ["a", "a"], np.random.default_rng(0))
    assert (found.value, found.low, found.high, found.n) == (2.0, None, None, 2)
