from pathlib import Path

import pytest

from heedful.metrics.scene_entropy import scene_entropy
from heedful.spec.errors import UserError
from heedful.store.datasets import EpisodeFrames, write_dataset
from heedful.workflows.scene_entropy import reading, scene_entropies


def dataset(path: Path, scenes: list[tuple[str, str]]) -> Path:
    """Write a dataset with one episode for every scene and task."""
    import numpy as np

    def episode(scene: str, task: str) -> EpisodeFrames:
        numbers = {name: np.zeros((2, 8)) for name in ("joint_state", "ee_state", "actions")}
        images = {"agent": np.zeros((2, 16, 16, 3), np.uint8)}
        numbers["done"] = np.array([False, True])
        return EpisodeFrames("rollout", task, numbers, images, 20.0, "png", source={"scene": scene})

    return write_dataset(path, [episode(*one) for one in scenes])


def suite(*tasks_of_scenes: int) -> list[tuple[str, str]]:
    return [(f"s{s}", f"{s}.{t}") for s, n in enumerate(tasks_of_scenes) for t in range(n) for _ in range(2)]


def test_liberos_four_suites_from_datasets(tmp_path: Path) -> None:
    suites = {"spatial": [1] * 10, "object": [1] * 10, "goal": [10], "long": [2, *[1] * 8]}
    found = scene_entropies([dataset(tmp_path / name, suite(*k)) for name, k in suites.items()], "scene")
    assert [round(one.entropy.bits, 3) for one in found.datasets] == [0.0, 0.0, 3.322, 0.2]
    assert found.mean_bits == pytest.approx(0.880, abs=5e-4)
    assert found.by_episodes_bits == pytest.approx(found.mean_bits)  # suites of equal size


def test_datasets_of_unequal_size_have_two_means(tmp_path: Path) -> None:
    found = scene_entropies(
        [dataset(tmp_path / "a", suite(4)), dataset(tmp_path / "b", suite(*[1] * 12))], "scene"
    )
    assert found.mean_bits == pytest.approx(1.0)
    assert found.by_episodes_bits == pytest.approx(2.0 * 8 / 32)  # their labels s0 are two scenes


@pytest.mark.parametrize(
    ("episodes", "said"),
    [
        ([("a", "x"), ("a", "x"), ("b", "y")], "The scene alone tells the task"),
        ([("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")], "The scene says nothing of the task: 2.0 equally"),
        ([("a", "x"), ("a", "y"), ("a", "y")], "All episodes carry the same scene label"),
        ([("a", "x"), ("a", "x"), ("b", "x")], "All episodes have the same task"),
        (
            [("a", "x"), ("a", "y"), ("b", "z"), ("b", "z")],
            "Of 1.500 bits that tell all 3 tasks apart, the scene gives 1.000",
        ),
    ],
)
def test_the_number_is_put_into_words(episodes: list[tuple[str, str]], said: str) -> None:
    assert said in reading(scene_entropy(episodes))


def test_labels_that_occur_once_are_called_meaningless(tmp_path: Path) -> None:
    path = dataset(tmp_path / "d", [("a", "x"), ("b", "y"), ("c", "x")])
    (found,) = scene_entropies([path], "scene").datasets
    assert found.entropy.bits == 0 and reading(found.entropy) == ""
    assert "occurs once, so the entropy is 0 by construction and says nothing" in found.remarks[0]


def test_labels_and_tasks_that_tell_each_other_are_pointed_out(tmp_path: Path) -> None:
    path = dataset(tmp_path / "d", suite(1, 1, 1))
    (found,) = scene_entropies([path], "scene").datasets
    assert found.entropy.bits == 0 and len(found.remarks) == 1
    assert "it may be the task by another name; 0 bits then say nothing" in found.remarks[0]
    # Two scenes with the same task: the label cannot be the task.
    path = dataset(tmp_path / "e", [("a", "x"), ("a", "x"), ("b", "x"), ("b", "x"), ("c", "y"), ("c", "y")])
    assert scene_entropies([path], "scene").datasets[0].remarks == ()


def test_a_label_with_the_words_of_the_task_is_refused(tmp_path: Path) -> None:
    path = dataset(tmp_path / "d", [("x", "x"), ("x", "x"), ("y", "y")])
    with pytest.raises(UserError, match="'scene' is the task itself"):
        scene_entropies([path], "scene")


def test_a_dataset_counts_once(tmp_path: Path) -> None:
    path = dataset(tmp_path / "d", suite(2, 1))
    (tmp_path / "also").symlink_to(path)
    with pytest.raises(
        UserError, match=f"also is named twice, also as {path}; its episodes would count double"
    ):
        scene_entropies([path, tmp_path / "also"], "scene")


def test_few_episodes_and_single_ones_are_pointed_out(tmp_path: Path) -> None:
    path = dataset(tmp_path / "d", [*(("a", t) for t in "uvwxyz"), ("b", "x")])
    (found,) = scene_entropies([path], "scene").datasets
    assert found.remarks[0].startswith("1 of 2 scenes has a single episode")
    assert "too low for it, by about 0.52 bits or more (Miller-Madow)" in found.remarks[1]


def test_episodes_without_words_are_said_to_be_a_task(tmp_path: Path) -> None:
    path = dataset(tmp_path / "d", [("a", "x"), ("a", "x"), ("a", ""), ("b", "y"), ("b", "y")])
    (found,) = scene_entropies([path], "scene").datasets
    assert "1 of 5 episodes has no words, which counts as a task of its own." in found.remarks


def test_without_a_label_those_that_would_do_are_listed(tmp_path: Path) -> None:
    path = dataset(tmp_path / "d", suite(2, 1))
    with pytest.raises(UserError, match=r"one value of: scene \(meta/heedful\.json\)"):
        scene_entropies([path], None)
    with pytest.raises(UserError, match="It has none that groups episodes"):
        scene_entropies([dataset(tmp_path / "e", [("a", "x"), ("b", "x")])], None)
    with pytest.raises(UserError, match="Did you mean 'scene'"):
        scene_entropies([path], "scenes")
    with pytest.raises(UserError, match="There is no dataset at"):
        scene_entropies([tmp_path / "nothing"], "scene")
