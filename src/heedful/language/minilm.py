"""The sentence embedding all-MiniLM-L6-v2 in numpy: six BERT layers, mean pool, unit length.

Each text runs through the model alone, so its vector never depends, not by a bit, on the
texts it came with: no padding, no attention mask, and an episode replays the same whoever
shared the batch. An instruction takes about 10 ms on one core; vectors are kept by text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heedful.language.model_files import locate
from heedful.spec.errors import UserError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

F32 = NDArray[np.float32]

WIDTH = 384
"""Numbers in an embedding."""
LAYERS = 6
HEADS = 12
MAX_TOKENS = 256
"""Longer texts are cut here, as the published model does."""
_EPSILON = np.float32(1e-12)


def encode(texts: Sequence[str], path: Path | None = None) -> F32:
    """Return the sentence embedding of each text.

    Args:
        texts: Any number of texts, N; case does not matter, the model lower-cases.
        path: Folder with ``model.safetensors`` and ``tokenizer.json``; ``None`` searches
            as :func:`heedful.language.model_files.locate` says.

    Returns:
        [N, 384] float32, rows of unit length: the dot product of two rows is their cosine.

    Raises:
        UserError: The model or a library it needs is missing, or its files are not the
            published ones.
    """
    if isinstance(texts, str):
        raise TypeError("encode takes a sequence of texts, not one text: write encode([text]).")
    if not texts:
        return np.empty((0, WIDTH), dtype=np.float32)
    model = _model(path)
    return np.stack([model.embedding(text) for text in texts])


@cache
def _model(path: Path | None) -> MiniLM:
    return MiniLM.load(locate(path))


class MiniLM:
    """The model: weights, tokenizer, and every vector it has made so far."""

    def __init__(self, weights: Mapping[str, F32], tokenizer: Tokenizer) -> None:
        self._weights = weights
        self._tokenizer = tokenizer
        self._made: dict[str, F32] = {}

    @staticmethod
    def load(folder: Path) -> MiniLM:
        """Return the model whose checked files lie in ``folder``."""
        try:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer
        except ImportError as error:
            raise UserError(
                f"The sentence embedding needs {error.name}: pip install 'safetensors' 'tokenizers'."
            ) from error

        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        return MiniLM(load_file(folder / "model.safetensors"), tokenizer)

    def embedding(self, text: str) -> F32:
        """Return the unit vector [384] of one text, read-only."""
        if text not in self._made:
            ids = np.asarray(self._tokenizer.encode(text).ids)
            mean = self._tokens(ids).mean(axis=0)
            vector: F32 = mean / np.linalg.norm(mean)
            vector.flags.writeable = False
            self._made[text] = vector
        return self._made[text]

    def _tokens(self, ids: NDArray[np.int64]) -> F32:
        """Return the last layer's token vectors [L, 384] for token ids [L]."""
        table = self._weights
        x = table["embeddings.word_embeddings.weight"][ids]
        x = x + table["embeddings.position_embeddings.weight"][: len(ids)]
        x = self._norm("embeddings.LayerNorm", x + table["embeddings.token_type_embeddings.weight"][0])
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}"
            attended = self._dense(f"{at}.attention.output.dense", self._attention(f"{at}.attention.self", x))
            x = self._norm(f"{at}.attention.output.LayerNorm", x + attended)
            hidden = _gelu(self._dense(f"{at}.intermediate.dense", x))
            x = self._norm(f"{at}.output.LayerNorm", x + self._dense(f"{at}.output.dense", hidden))
        return x

    def _attention(self, at: str, x: F32) -> F32:
        """Return softmax(Q K^T / sqrt(32)) V over ``HEADS`` heads, for token vectors [L, 384]."""
        query, key, value = (
            self._dense(f"{at}.{part}", x).reshape(len(x), HEADS, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(np.float32(query.shape[-1]))
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed: F32 = (weights @ value).transpose(1, 0, 2).reshape(len(x), WIDTH)
        return mixed

    def _dense(self, at: str, x: F32) -> F32:
        product: F32 = x @ self._weights[f"{at}.weight"].T + self._weights[f"{at}.bias"]
        return product

    def _norm(self, at: str, x: F32) -> F32:
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + _EPSILON)
        normed: F32 = centred / scale * self._weights[f"{at}.weight"] + self._weights[f"{at}.bias"]
        return normed


def _gelu(x: F32) -> F32:
    from scipy.special import erf

    curved: F32 = x * np.float32(0.5) * (np.float32(1.0) + erf(x / np.sqrt(np.float32(2.0))))
    return curved
