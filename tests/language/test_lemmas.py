from pathlib import Path

import numpy as np
import pytest

from heedful.language import encode
from heedful.language import lemmas as module
from heedful.language.kept import Kept
from heedful.language.lemmas import lemma_vectors


def test_each_lemma_has_its_own_embedding(minilm: Path) -> None:
    words = ["bowl", "plate", "bowl", "drawer"]
    found = lemma_vectors(words)
    assert list(found) == ["bowl", "plate", "drawer"]
    for lemma, vector in found.items():
        assert (vector == encode([lemma])[0]).all()
    assert lemma_vectors([]) == {}


def test_kept_vectors_are_the_same_bits_and_need_no_model(
    minilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(tmp_path / "kept.sqlite")
    made = lemma_vectors(["bowl", "碗"], kept=kept)
    monkeypatch.setattr(module, "encode", lambda *_: pytest.fail("the model was asked for"))
    found = lemma_vectors(["碗", "bowl"], kept=kept)
    assert found.keys() == made.keys()
    assert all(np.array_equal(found[lemma], made[lemma]) for lemma in made)
    assert all(vector.dtype == np.float32 and vector.shape == (384,) for vector in found.values())
