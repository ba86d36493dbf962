"""Images made smaller by area averaging: the same way for training and for testing."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def area_resize(images_hwc_u8: NDArray[np.uint8], height_px: int, width_px: int) -> NDArray[np.uint8]:
    """Return ``images_hwc_u8`` [..., H, W, C] at ``height_px`` x ``width_px``, rounded to uint8.

    Every new pixel is the mean over the area that it covers in the old image; old pixels
    that are covered in part count in part. Exact block means where the sizes divide.

    >>> area_resize(np.array([[[0], [10], [20]]], dtype=np.uint8), 1, 2)[0, :, 0]
    array([ 3, 17], dtype=uint8)
    """
    *lead, height, width, channels = images_hwc_u8.shape
    if (height, width) == (height_px, width_px):
        return images_hwc_u8
    found = np.empty((*lead, height_px, width_px, channels), dtype=np.uint8)
    across, down = _weights(width, width_px), _weights(height, height_px)
    for index in np.ndindex(*lead):  # image by image: the intermediate values stay in the cache
        image = images_hwc_u8[index].astype(np.float32)
        image = _pooled(image.reshape(1, height, width * channels), down)
        image = _pooled(image.reshape(height_px, width, channels), across)
        found[index] = (image + 0.5).reshape(height_px, width_px, channels)
    return found


def _weights(old: int, new: int) -> NDArray[np.float32]:
    """Return the weights [b, a] that turn every a old pixels into b new ones, both coprime."""
    common = math.gcd(old, new)
    a, b = old // common, new // common
    edges = np.arange(b + 1) * (a / b)
    pixels = np.arange(a)
    covered = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    weights: NDArray[np.float32] = (np.clip(covered, 0, None) * (b / a)).astype(np.float32)
    return weights


def _pooled(values: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``values`` [N, L, C] with groups of the middle axis combined by ``weights`` [b, a]."""
    n, length, channels = values.shape
    b, a = weights.shape
    groups = values.reshape(n * length // a, a, channels)
    pooled: NDArray[np.float32] = np.matmul(weights, groups).reshape(n, length // a * b, channels)
    return pooled
