import pytest
import torch
from torch import Tensor

from heedful.policies.reference.config import ENCODERS, EncoderName, TrainingConfig
from heedful.policies.reference.encoders import TextEncoder, vocabulary
from heedful.spec.errors import UserError

TEXTS = ("lift the red cube", "grasp the blue cup")


def made(kind: EncoderName) -> TextEncoder:
    torch.manual_seed(0)
    return TextEncoder(kind, vocabulary(TEXTS), 16)


def encoded(encoder: TextEncoder, *texts: str) -> Tensor:
    with torch.no_grad():
        found: Tensor = encoder(encoder.prepare(texts))
    return found


@pytest.mark.parametrize("kind", ENCODERS)
def test_held_out_words_and_no_words_are_possible_inputs(kind: EncoderName) -> None:
    found = encoded(made(kind), "", "please fetch me that thing", *TEXTS)
    assert found.shape == (4, 16)
    assert torch.isfinite(found).all()
    assert encoded(made(kind), "").shape == (1, 16)


@pytest.mark.parametrize("kind", ENCODERS)
def test_a_text_means_the_same_in_any_company(kind: EncoderName) -> None:
    encoder = made(kind)
    alone = encoded(encoder, "lift the cup")
    beside = encoded(encoder, "lift the red cube on the left of the table", "lift the cup")[1:]
    assert torch.allclose(alone, beside, atol=1e-5)


def test_only_the_mean_is_blind_to_word_order() -> None:
    for kind, blind in (("mean", True), ("gru", False), ("gru_reversed", False)):
        a, b = encoded(made(kind), "red cube", "cube red")  # type: ignore[arg-type]
        assert torch.allclose(a, b, atol=1e-6) == blind


def test_the_reversed_encoder_reads_backwards() -> None:
    forward, backward = made("gru"), made("gru_reversed")
    assert torch.allclose(encoded(forward, "cube red the lift"), encoded(backward, "lift the red cube"))


def test_no_words_are_no_opinion_of_learned_tokens() -> None:
    for kind in ("mean", "gru", "gru_reversed"):
        assert encoded(made(kind), "").abs().max() == 0  # type: ignore[arg-type]


def test_a_misspelt_encoder_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match="Did you mean 'minilm'"):
        TrainingConfig(encoder="minilmm")  # type: ignore[arg-type]
