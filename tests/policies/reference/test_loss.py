import math

import pytest
import torch

from heedful.policies.reference.loss import attention_loss, reading_loss, tolerance_m
from heedful.policies.reference.network import Reading

CELLS = torch.tensor([[0.0, 0.0], [0.2, 0.0], [0.4, 0.0]])


def reading(probabilities: list[float], offset: tuple[float, float] = (0.0, 0.0)) -> Reading:
    attention = torch.tensor([probabilities])
    zero = torch.zeros(1)
    return Reading(
        attention.log(),
        attention.argmax(1),
        CELLS,
        torch.tensor([offset]),
        torch.zeros(1, 2),
        zero,
        zero,
        zero,
    )


def test_all_attention_on_the_labelled_place_costs_nothing() -> None:
    assert attention_loss(reading([0.0, 1.0, 0.0]), CELLS[1:2], 0.01) == pytest.approx(0.0, abs=1e-6)


def test_a_third_of_the_attention_costs_the_logarithm_of_three() -> None:
    assert attention_loss(reading([1 / 3] * 3), CELLS[1:2], 0.01) == pytest.approx(math.log(3), rel=1e-5)


def test_the_offset_said_by_the_words_moves_the_place() -> None:
    behind = torch.tensor([[0.13, 0.0]])
    attending = [0.0, 1.0, 0.0]
    assert attention_loss(reading(attending, (-0.07, 0.0)), behind, 0.01) < 1e-6
    assert attention_loss(reading(attending), behind, 0.01) == pytest.approx(
        0.07**2 / (2 * 0.01**2), rel=1e-4
    )


def test_two_objects_are_never_averaged() -> None:
    assert reading([0.49, 0.02, 0.49 + 1e-4]).xy_m.tolist()[0] == pytest.approx([0.4, 0.0])


def test_a_reading_of_another_place_teaches_only_attention() -> None:
    label = torch.tensor([[0.2, 0.0, 0.02, 0.1, 1.0]])
    assert reading_loss(reading([0.9, 0.1, 0.0]), label) == 0
    assert reading_loss(reading([0.1, 0.9, 0.0]), label) > 0


def test_the_tolerance_narrows_geometrically_and_stays() -> None:
    found = [tolerance_m(step, 100, 0.05, 0.0005, 0.5) for step in (0, 25, 50, 99)]
    assert found == pytest.approx([0.05, 0.005, 0.0005, 0.0005])
