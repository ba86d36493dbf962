from math import log, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.metrics.scene_entropy import SceneEntropy, entropy_bits, scene_entropy

EPISODES = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("tuvwx")), min_size=1, max_size=60)


def benchmark(*tasks_of_scenes: int, demonstrations: int = 50) -> SceneEntropy:
    """Return the entropy of scenes with so many tasks each, every task demonstrated equally often."""
    return scene_entropy(
        (f"scene {s}", f"task {s}.{t}")
        for s, tasks in enumerate(tasks_of_scenes)
        for t in range(tasks)
        for _ in range(demonstrations)
    )


def test_the_published_value_of_robofollow() -> None:
    found = benchmark(16, 16, 16, 16, 7, 4)
    assert found.bits == pytest.approx(3.782, abs=5e-4)
    assert (found.tasks, len(found.scenes), found.episodes) == (75, 6, 3750)
    assert found.task_bits == pytest.approx(log2(75))
    assert found.effective_tasks == pytest.approx(2**3.782, rel=1e-3)


def test_the_published_value_of_libero_is_the_mean_of_its_four_suites() -> None:
    spatial = object_ = benchmark(*[1] * 10)
    goal = benchmark(10)
    long = benchmark(2, *[1] * 8)  # two of its ten tasks share a scene
    bits = [suite.bits for suite in (goal, long, spatial, object_)]
    assert bits == pytest.approx([log2(10), 0.2, 0, 0])
    assert spatial.bits == 0.0  # exactly: not a rounding error above or below
    assert sum(bits) / 4 == pytest.approx(0.880, abs=5e-4)


def test_unequal_shares_by_hand() -> None:
    found = scene_entropy([("a", "x"), ("a", "x"), ("a", "x"), ("a", "y"), ("b", "x"), ("b", "x")])
    assert found.bits == pytest.approx(4 / 6 * (0.75 * log2(4 / 3) + 0.25 * 2))
    first, second = found.scenes
    assert (first.scene, first.tasks, first.episodes) == ("a", {"x": 3, "y": 1}, 4)
    assert (second.scene, second.bits) == ("b", 0.0)
    assert found.bias_bits == pytest.approx(1 / (2 * 6 * log(2)))
    assert found.single_episodes == 0
    assert scene_entropy([("a", "x"), ("b", "y")]).single_episodes == 2


@given(EPISODES)
def test_it_lies_between_0_and_the_entropy_of_the_tasks(episodes: list[tuple[str, str]]) -> None:
    found = scene_entropy(episodes)
    assert 0 <= found.bits <= found.task_bits + 1e-9
    assert found.task_bits <= log2(found.tasks) + 1e-9
    assert sum(scene.episodes for scene in found.scenes) == found.episodes == len(episodes)


@given(EPISODES, st.randoms())
def test_order_and_names_do_not_matter(episodes: list[tuple[str, str]], random: object) -> None:
    shuffled = list(episodes)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert scene_entropy(shuffled) == scene_entropy(episodes)
    renamed = scene_entropy((scene.upper(), f"task {task}") for scene, task in episodes)
    assert renamed.bits == pytest.approx(scene_entropy(episodes).bits)


@given(EPISODES)
def test_to_tell_scenes_apart_less_never_lowers_it(episodes: list[tuple[str, str]]) -> None:
    fine = scene_entropy(episodes)
    coarse = scene_entropy(("b" if scene == "a" else scene, task) for scene, task in episodes)
    assert coarse.bits >= fine.bits - 1e-9
    assert scene_entropy(("one", task) for _, task in episodes).bits == pytest.approx(fine.task_bits)


@given(EPISODES)
def test_identical_scenes_may_be_merged_or_split(episodes: list[tuple[str, str]]) -> None:
    twice = [(f"{scene}{copy}", task) for copy in (1, 2) for scene, task in episodes]
    assert scene_entropy(twice).bits == pytest.approx(scene_entropy(episodes).bits)


def test_nothing_has_no_entropy() -> None:
    assert entropy_bits([0, 7]) == 0.0
    with pytest.raises(ValueError, match="no episodes"):
        scene_entropy([])
