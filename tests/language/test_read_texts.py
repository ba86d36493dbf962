import numpy as np

from heedful.language.read_texts import read_texts


def test_keywords_have_unit_vectors_in_their_order_and_equal_texts_are_read_once() -> None:
    read = read_texts(["lift the red cube", "lift the red cube", "lift a cube", ""])
    assert list(read) == ["lift the red cube", "lift a cube", ""]
    red, plain = read["lift the red cube"], read["lift a cube"]
    assert red.parse.keywords == ("lift", "red", "cube")
    np.testing.assert_allclose(np.linalg.norm(red.vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(red.vectors[[0, 2]], plain.vectors, atol=1e-6)
    assert read[""].vectors.shape == (0, 384)
