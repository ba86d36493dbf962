"""Paths in space compared by shape: resampling, dynamic time warping, and the corridor of successes.

As in LIBERO-Para's failure analysis (arXiv 2603.28301): end-effector positions only, every
path resampled to K points, dynamic time warping with Euclidean cost, normalised by length;
the mean of a task's successful paths stands in for its ground truth, and the largest
distance of a success from it is the width of the corridor. The warping itself is done by
dtaidistance (C). What the paper leaves open and is settled here:

* Resampled over what: the time index. The steps of an episode are evenly spaced in time, and
  the K points are, too. Where a robot waits, points gather; the warping takes that out again.
* Which length: K, the length that all paths share. The distance is then a mean gap in metres,
  up to the points that the warping counts twice. The length of the warping path (K to 2K - 1)
  is the other reading; it would divide by something that the warping did not minimise and that
  depends on how ties are broken. Dividing by K leaves every verdict as the undivided sums have
  it, since all are compared with distances of the same kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.spec.end_effector import EndEffectorPath

F64 = NDArray[np.float64]
Frame = Literal["world", "target"]

POINTS = 50
"""K of the paper."""
THRESHOLDS: Mapping[str, float] = {"max": 100.0, "p99": 99.0, "p95": 95.0, "p90": 90.0}
"""Name -> percentile of the successes' distances, the widest first."""


def resample(positions_m: ArrayLike, points: int = POINTS) -> F64:
    """Return the path at ``points`` moments evenly spaced in time, linearly interpolated.

    Args:
        positions_m: [T, D], T of at least 1; a lone position is a path that stands still.
        points: At least 2.

    >>> resample([[0.0, 0.0, 0.0], [1.0, 0.0, 2.0]], points=3).tolist()
    [[0.0, 0.0, 0.0], [0.5, 0.0, 1.0], [1.0, 0.0, 2.0]]
    """
    path = np.asarray(positions_m, dtype=np.float64)
    moments = np.linspace(0.0, len(path) - 1.0, points)
    steps = np.arange(len(path), dtype=np.float64)
    return np.ascontiguousarray(np.stack([np.interp(moments, steps, column) for column in path.T], axis=1))


def dtw_distance_m(one: F64, other: F64) -> float:
    """Return the dynamic time warping distance of two paths [K, D] in metres, divided by K.

    The least sum of Euclidean gaps over all monotone pairings of the points that begin with
    both first and end with both last ones; each step of a pairing advances one path or both.
    """
    from dtaidistance import dtw_ndim

    # its default cost is the squared gap, with a root over the whole sum
    total: float = dtw_ndim.distance_fast(one, other, inner_dist="euclidean")
    return total / len(one)


@dataclass(frozen=True, eq=False)
class Place:
    """The one scene that paths from several scenes are moved into.

    Attributes:
        start_m: [3] where the hand starts there.
        target_m: [3] where the target stands there.
    """

    start_m: F64
    target_m: F64

    @staticmethod
    def of(paths: Sequence[EndEffectorPath]) -> Place:
        """Return the mean start and the mean target of ``paths``, all of which know their target."""
        return Place(
            np.mean([p.positions_m[0] for p in paths], axis=0), np.mean([_target(p) for p in paths], axis=0)
        )

    def aligned(self, path: EndEffectorPath) -> F64:
        """Return ``path`` [T, 3] as it would be here, relative to the target.

        p(t) + (1 - w) (start here - its start) + w (target here - its target), where w is how
        far the hand had come: the largest a^2 / (a^2 + b^2) so far, a and b its distances from
        its own start and its own target. A path keeps its start and its misses: one that ends 2 cm
        beside its target ends 2 cm beside the target here, one that stands still stands still,
        and one to another object leads elsewhere. Only where the objects stand is taken out;
        shifting whole paths instead would leave their starts scattered, and successes would
        differ by that more than failures do.
        """
        positions, target = path.positions_m, _target(path)
        a = np.square(positions - positions[0]).sum(axis=1)
        b = np.square(positions - target).sum(axis=1)
        share = np.divide(a, a + b, out=np.zeros_like(a), where=a + b > 0)
        w = np.maximum.accumulate(share)[:, None]
        moved: F64 = (
            positions + (1 - w) * (self.start_m - positions[0]) + w * (self.target_m - target) - self.target_m
        )
        return moved


@dataclass(frozen=True, eq=False)
class Corridor:
    """Where the successes of one task went.

    Attributes:
        place: The scene that their paths were moved into; ``None``: compared as recorded.
        mean_m: [K, 3] their mean path, the task's pseudo ground truth.
        distances_m: [n] distance of each success from the mean of all, itself included: the
            published definition.
        left_out_m: [n] distance of each success from the mean of the others. A success is
            part of the mean that it is compared with, which draws the mean towards it; a
            failure is not. With few successes the published corridor is too narrow.
        thresholds_m: Name -> distance up to which a failure is near.
    """

    place: Place | None
    mean_m: F64
    distances_m: F64
    left_out_m: F64
    thresholds_m: Mapping[str, float]

    def seen(self, path: EndEffectorPath) -> F64:
        """Return the positions of ``path``, [T, 3], in the frame of this corridor."""
        return path.positions_m if self.place is None else self.place.aligned(path)

    def distance_m(self, path: EndEffectorPath) -> float:
        """Return how far ``path`` is from the mean successful path."""
        return dtw_distance_m(resample(self.seen(path), len(self.mean_m)), self.mean_m)

    def near(self, distance_m: float) -> dict[str, bool]:
        """Return for each threshold whether a failure at that distance is near."""
        return {name: distance_m <= limit for name, limit in self.thresholds_m.items()}


def corridor(
    successes: Sequence[EndEffectorPath],
    frame: Frame = "world",
    *,
    points: int = POINTS,
    leave_one_out: bool = False,
    least_width_m: float = 0.0,
) -> Corridor:
    """Return the corridor of ``successes``, at least two episodes of one policy and task.

    Args:
        successes: With ``frame`` "target" each knows where its target stood.
        frame: ``world``: as recorded, and as published. ``target``: moved into one scene first.
        points: K.
        leave_one_out: Take the thresholds from each success's distance to the mean of the
            others instead of the mean of all.
        least_width_m: No threshold is below it. Successes that are all alike make a corridor so
            narrow that a miss by a finger's width falls outside.
    """
    n = len(successes)
    place = Place.of(successes) if frame == "target" else None
    seen = [p.positions_m if place is None else place.aligned(p) for p in successes]
    paths = np.stack([resample(p, points) for p in seen])
    mean = paths.mean(axis=0)
    inside = np.asarray([dtw_distance_m(p, mean) for p in paths])
    apart = np.asarray([dtw_distance_m(p, (n * mean - p) / (n - 1)) for p in paths])
    limits = percentiles(apart if leave_one_out else inside)
    return Corridor(
        place, mean, inside, apart, {name: max(limit, least_width_m) for name, limit in limits.items()}
    )


def percentiles(distances_m: F64) -> dict[str, float]:
    """Return the distance that each name of ``THRESHOLDS`` stands for."""
    return {name: float(np.percentile(distances_m, q)) for name, q in THRESHOLDS.items()}


def _target(path: EndEffectorPath) -> F64:
    if path.target_m is None:
        raise ValueError(f"episode {path.episode} does not say where its target stood")
    return path.target_m
