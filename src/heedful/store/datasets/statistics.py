"""The statistics of a dataset: min, max, mean, std, count and five quantiles of every feature."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}
NAMES = ("min", "max", "mean", "std", "count", *QUANTILES)

Stats = dict[str, Any]
Histogram = NDArray[np.int64]
"""[3, 256]: how often each value of each color channel occurred."""


def number_stats(values: NDArray[Any]) -> Stats:
    """Return the statistics of ``values`` [T] or [T, D], each a list of D numbers (count: one)."""
    values = values.reshape(len(values), -1).astype(np.float64)
    found = {
        "min": values.min(axis=0),
        "max": values.max(axis=0),
        "mean": values.mean(axis=0),
        "std": values.std(axis=0),
    }
    quantiles = np.quantile(values, list(QUANTILES.values()), axis=0)
    found |= dict(zip(QUANTILES, quantiles, strict=True))
    return {**{name: value.tolist() for name, value in found.items()}, "count": [len(values)]}


def histogram(images_hwc_u8: NDArray[np.uint8]) -> Histogram:
    """Return the histogram of every second row and column of ``images_hwc_u8`` [T, H, W, 3]."""
    pixels = images_hwc_u8[:, ::2, ::2]
    return np.stack([np.bincount(pixels[..., c].ravel(), minlength=256) for c in range(3)])


def image_stats(counts: Histogram, frames: int) -> Stats:
    """Return the statistics of the images behind ``counts``, scaled to [0, 1], nested as [3, 1, 1]."""
    levels = np.arange(256) / 255
    total = counts.sum(axis=1)
    mean = counts @ levels / total
    variance = np.maximum(counts @ levels**2 / total - mean**2, 0)
    cumulative = counts.cumsum(axis=1)
    found = {
        "min": levels[(counts > 0).argmax(axis=1)],
        "max": levels[255 - (counts[:, ::-1] > 0).argmax(axis=1)],
        "mean": mean,
        "std": np.sqrt(variance),
    }
    for name, q in QUANTILES.items():
        found[name] = levels[(cumulative >= q * total[:, None]).argmax(axis=1)]
    return {**{name: value.reshape(3, 1, 1).tolist() for name, value in found.items()}, "count": [frames]}


def joined(histograms: Iterable[Histogram]) -> Histogram:
    """Return the histogram of all images together."""
    total: Histogram = np.sum(list(histograms), axis=0, dtype=np.int64)
    return total
