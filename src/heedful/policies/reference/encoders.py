"""From the words of an instruction to a vector."""

from __future__ import annotations

import re
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from heedful.policies.reference.config import EncoderName

PADDING, UNKNOWN = 0, 1
SENTENCE_SIZE = 384


def words(text: str) -> list[str]:
    """Return the lower-case words of ``text``.

    >>> words("Lift the red cube.")
    ['lift', 'the', 'red', 'cube']
    """
    return re.findall(r"[a-z0-9]+", text.lower())


def vocabulary(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the distinct words of ``texts``, sorted."""
    return tuple(sorted({word for text in texts for word in words(text)}))


class TextEncoder(nn.Module):
    """Instructions -> vectors [N, size].

    ``prepare`` turns texts into a tensor once (for MiniLM this is where the frozen sentence
    model runs); ``forward`` is the trained part.

    Args:
        kind: Which encoder.
        vocabulary: The words of the training texts; any other word is one unknown token,
            a zero vector, so that held-out wording is a possible input.
        size: Length of the vectors.
    """

    def __init__(self, kind: EncoderName, vocabulary: Sequence[str], size: int) -> None:
        super().__init__()
        self.kind = kind
        self.size = size
        self.index = {word: i for i, word in enumerate(vocabulary, start=UNKNOWN + 1)}
        if kind == "minilm":
            self.project = nn.Linear(SENTENCE_SIZE, size)
            return
        self.tokens = nn.Embedding(len(vocabulary) + 2, size, padding_idx=PADDING)
        with torch.no_grad():
            self.tokens.weight[UNKNOWN].zero_()
        if kind != "mean":
            self.gru = nn.GRU(size, size, batch_first=True)

    def prepare(self, texts: Sequence[str]) -> Tensor:
        """Return the input of ``forward``: [N, 384] float32, or token ids [N, T >= 1]."""
        if self.kind == "minilm":
            from heedful.language import encode

            return torch.from_numpy(encode(list(texts)).astype("float32"))
        ids = [[self.index.get(word, UNKNOWN) for word in words(text)] for text in texts]
        if self.kind == "gru_reversed":
            ids = [row[::-1] for row in ids]
        longest = max(1, *(len(row) for row in ids)) if ids else 1
        return torch.tensor([row + [PADDING] * (longest - len(row)) for row in ids], dtype=torch.int64)

    def forward(self, prepared: Tensor) -> Tensor:
        """Return the instruction vectors, [N, size]; zeros for no words (learned tokens)."""
        if self.kind == "minilm":
            # Sentence vectors have length 1; bring each number to about 1.
            projected: Tensor = self.project(prepared * SENTENCE_SIZE**0.5)
            return projected
        embedded: Tensor = self.tokens(prepared)
        lengths = (prepared != PADDING).sum(1)
        if self.kind == "mean":
            return embedded.sum(1) / lengths.clamp(min=1)[:, None]
        states: Tensor = self.gru(embedded)[0]
        last = states[torch.arange(len(states)), (lengths - 1).clamp(min=0)]
        return last * (lengths > 0)[:, None]
