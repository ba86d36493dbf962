"""all-MiniLM-L6-v2 once more, in torch, padded and masked: the control of the numpy model."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from heedful.language import encode

if TYPE_CHECKING:
    import torch
    from torch.nn import functional
else:
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional

from safetensors.torch import load_file
from tokenizers import Tokenizer

REFERENCE = Path(__file__).parent / "data" / "reference.json"


@cache
def _weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def torch_embedding(folder: Path, text: str) -> NDArray[np.float32]:
    """Return the unit vector [384] of one text, padded to 32 tokens and masked."""
    table = _weights(folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_padding(length=32)
    encoded = tokenizer.encode(text)
    ids, mask = torch.tensor(encoded.ids), torch.tensor(encoded.attention_mask, dtype=torch.bool)

    def linear(at: str, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, table[f"{at}.weight"], table[f"{at}.bias"])

    def norm(at: str, x: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(x, (384,), table[f"{at}.weight"], table[f"{at}.bias"], 1e-12)

    x = functional.embedding(ids, table["embeddings.word_embeddings.weight"])
    x = x + table["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm("embeddings.LayerNorm", x + table["embeddings.token_type_embeddings.weight"][:1])
    for layer in range(6):
        at = f"encoder.layer.{layer}"
        query, key, value = (
            linear(f"{at}.attention.self.{part}", x).reshape(len(ids), 12, 32).transpose(0, 1)
            for part in ("query", "key", "value")
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask[None, None])
        attended = linear(f"{at}.attention.output.dense", mixed.transpose(0, 1).flatten(1))
        x = norm(f"{at}.attention.output.LayerNorm", x + attended)
        hidden = functional.gelu(linear(f"{at}.intermediate.dense", x))
        x = norm(f"{at}.output.LayerNorm", x + linear(f"{at}.output.dense", hidden))
    vector: NDArray[np.float32] = functional.normalize(x[mask].mean(dim=0), dim=0).numpy()
    return vector


def test_numpy_and_torch_give_the_same_vectors(minilm: Path) -> None:
    texts = list(json.loads(REFERENCE.read_text()))
    expected = np.stack([torch_embedding(minilm, text) for text in texts])
    assert np.abs(encode(texts, minilm) - expected).max() < 2e-6


def test_the_committed_table_is_what_torch_gives(minilm: Path) -> None:
    for text, first in json.loads(REFERENCE.read_text()).items():
        assert np.abs(torch_embedding(minilm, text)[: len(first)] - first).max() < 2e-6
