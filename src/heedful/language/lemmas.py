"""Sentence embeddings of single words, each made once and kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from heedful.language.kept import Kept
from heedful.language.minilm import F32, encode
from heedful.language.model_files import MODEL, SHA256
from heedful.spec.progress import Progress, silent

_FORMAT = 1
MAKER = "MiniLM " + hashlib.sha256(json.dumps([MODEL, SHA256, _FORMAT]).encode()).hexdigest()
_SAID_EVERY = 100


def lemma_vectors(
    lemmas: Sequence[str],
    path: Path | None = None,
    kept: Kept | None = None,
    progress: Progress = silent,
) -> dict[str, F32]:
    """Return lemma -> its unit vector, [384] float32.

    Args:
        lemmas: Any number, in any order; equal ones are embedded once.
        path: Folder of the sentence embedding; ``None`` searches as ``locate`` says.
        kept: Where vectors of earlier processes are found and new ones kept; ``None``: nowhere.
            When all are found, the model is not needed.
        progress: Told every few new lemmas.

    Raises:
        UserError: The model or a library it needs is missing, or its files are not the
            published ones.
    """
    unique = list(dict.fromkeys(lemmas))
    recalled = {} if kept is None else kept.recall(MAKER, unique)
    vectors = {lemma: np.frombuffer(value, dtype="<f4") for lemma, value in recalled.items()}
    new = [lemma for lemma in unique if lemma not in vectors]
    for start in range(0, len(new), _SAID_EVERY):
        some = new[start : start + _SAID_EVERY]
        vectors |= dict(zip(some, encode(some, path), strict=True))
        progress("embed words", start + len(some), len(new))
    if new and kept is not None:
        kept.keep(MAKER, {lemma: vectors[lemma].astype("<f4").tobytes() for lemma in new})
    return vectors
