import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from heedful.language import encode

REFERENCE = json.loads((Path(__file__).parent / "data" / "reference.json").read_text())


def test_committed_vectors_are_reproduced(minilm: Path) -> None:
    """The table holds the first numbers of each vector; test_minilm_torch makes them with torch."""
    found = encode(list(REFERENCE), minilm)
    assert np.abs(found[:, :8] - np.asarray(list(REFERENCE.values()))).max() < 2e-6


def test_vectors_have_unit_length(minilm: Path) -> None:
    found = encode(["lift the red cube", "cube", ""], minilm)
    assert found.shape == (3, 384)
    assert found.dtype == np.float32
    assert np.abs(np.linalg.norm(found, axis=1) - 1).max() < 1e-6


def test_a_vector_does_not_depend_on_its_company(minilm: Path) -> None:
    texts = ["push the blue cup", "grasp", "slide the smallest black star on the right of the table"]
    together = encode(texts, minilm)
    fresh = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from heedful.language import encode;"
            "sys.stdout.buffer.write(encode([sys.argv[2]], Path(sys.argv[1])).tobytes())",
            str(minilm),
            texts[1],
        ],
        capture_output=True,
        check=True,
    ).stdout
    assert together[1].tobytes() == fresh
    assert (encode(texts[::-1], minilm) == together[::-1]).all()


@pytest.mark.parametrize(
    ("paraphrase", "original", "published"),
    [
        ("situate bowl plate", "put bowl plate", 0.77301025390625),
        ("put vessel plate", "put bowl plate", 0.7798736691474915),
        ("put bowl burner", "put bowl stove", 0.8865067362785339),
        ("put basin platter", "put bowl plate", 0.6599562764167786),
        ("turn hob", "turn stove", 0.6383899450302124),
        ("switch stove", "turn stove", 0.7613118886947632),
    ],
)
def test_keyword_similarity_is_the_published_one(
    minilm: Path, paraphrase: str, original: str, published: float
) -> None:
    """S_K of LIBERO-Para (arXiv 2603.28301) from the lemmas of six of its instructions.

    For each keyword of the original the largest cosine over the paraphrase's, then the mean.
    """
    cosines = encode(original.split(), minilm) @ encode(paraphrase.split(), minilm).T
    assert cosines.max(axis=1).mean() == pytest.approx(published, abs=2e-6)


def test_case_is_ignored_and_long_texts_are_cut(minilm: Path) -> None:
    lower, upper = encode(["lift the cube", "LIFT the Cube"], minilm)
    assert (lower == upper).all()
    cut, longer = encode(["cube " * 254, "cube " * 600], minilm)
    assert (cut == longer).all()


def test_a_returned_vector_can_be_changed_without_harm(minilm: Path) -> None:
    before = encode(["cube"], minilm)
    kept = before.copy()
    before[:] = 0
    assert (encode(["cube"], minilm) == kept).all()


def test_no_texts_need_no_model() -> None:
    assert encode([], Path("nowhere")).shape == (0, 384)


def test_one_string_is_not_a_list_of_letters() -> None:
    with pytest.raises(TypeError, match="encode"):
        encode("cube")


def test_importing_loads_nothing_heavy() -> None:
    heavy = "{'torch', 'scipy', 'tokenizers', 'safetensors'}"
    subprocess.run(
        [sys.executable, "-c", f"import sys, heedful.language; assert not {heavy} & set(sys.modules)"],
        check=True,
    )
