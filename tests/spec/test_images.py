import numpy as np
import pytest

from heedful.spec.images import area_resize


@pytest.mark.parametrize("size", [(2, 3), (4, 6), (8, 9), (5, 7), (16, 12), (32, 24)])
def test_every_pixel_is_the_mean_of_the_area_it_covers(size: tuple[int, int]) -> None:
    image = np.random.default_rng(0).integers(0, 256, (16, 12, 3), dtype=np.uint8)
    height, width = size
    # Known answer: every old pixel repeated so often that the new borders fall between repeats.
    big = image.repeat(height, axis=0).repeat(width, axis=1).astype(float)
    exact = big.reshape(height, 16, width, 12, 3).mean(axis=(1, 3))
    assert np.abs(area_resize(image, height, width) - exact).max() <= 0.5 + 1e-4


def test_lists_of_images_and_equal_sizes_pass_through() -> None:
    images = np.random.default_rng(0).integers(0, 256, (2, 5, 8, 8, 3), dtype=np.uint8)
    small = area_resize(images, 4, 4)
    assert small.shape == (2, 5, 4, 4, 3) and small.dtype == np.uint8
    assert np.array_equal(small[1, 3], area_resize(images[1, 3], 4, 4))
    assert area_resize(images, 8, 8) is images
