from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from heedful.metrics.paths import Place, corridor, dtw_distance_m, resample
from heedful.spec.end_effector import EndEffectorPath

F64 = NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)


def least_sum(one: F64, other: F64) -> float:
    """Return the dynamic time warping sum by the textbook recursion, cost: the Euclidean gap."""
    gaps = np.linalg.norm(one[:, None] - other[None], axis=2)
    best = np.full((len(one) + 1, len(other) + 1), np.inf)
    best[0, 0] = 0.0
    for i in range(len(one)):
        for j in range(len(other)):
            best[i + 1, j + 1] = gaps[i, j] + min(best[i, j], best[i, j + 1], best[i + 1, j])
    return float(best[-1, -1])


def walk(rng: np.random.Generator, points: int) -> F64:
    return rng.normal(0, 0.05, (points, 3)).cumsum(axis=0)


def path(positions: F64, success: bool = True, target: F64 | None = None, **more: str) -> EndEffectorPath:
    return EndEffectorPath("p", "t", more.pop("episode", "e"), success, positions, target_m=target, **more)


@given(SEEDS, st.integers(2, 30))
@settings(max_examples=15, deadline=None)
def test_the_library_gives_the_textbook_sum_of_euclidean_gaps_over_k(seed: int, points: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = walk(rng, points), walk(rng, points)
    assert dtw_distance_m(one, other) == pytest.approx(least_sum(one, other) / points, abs=1e-12)


def test_a_constant_gap_is_the_distance_however_long_the_path() -> None:
    for points in (2, 10, 50, 200):  # perpendicular to the motion: warping cannot shorten it
        line = np.linspace([0, 0, 0], [1.0, 0, 0], points)
        assert dtw_distance_m(line, line + [0, 0.03, 0]) == pytest.approx(0.03)


def test_pace_does_not_matter_and_the_way_does() -> None:
    steps = np.linspace(0, 1, 50)
    corner = np.interp(steps, [0, 0.5, 1], [0, 1, 1]), np.interp(steps, [0, 0.5, 1], [0, 0, 1])
    early = np.stack([*corner, 0 * steps], axis=1)
    waited = resample(np.concatenate([early, np.repeat(early[-1:], 50, axis=0)]))
    other_way = early[:, [1, 0, 2]]
    assert dtw_distance_m(early, waited) < 0.02
    assert dtw_distance_m(early, other_way) > 0.2


@given(SEEDS, st.integers(1, 40), st.integers(2, 60))
@settings(max_examples=15, deadline=None)
def test_resampling_keeps_the_ends_and_stays_within(seed: int, steps: int, points: int) -> None:
    rng = np.random.default_rng(seed)
    given_path = walk(rng, steps)
    found = resample(given_path, points)
    assert found.shape == (points, 3)
    assert found[0] == pytest.approx(given_path[0])
    assert found[-1] == pytest.approx(given_path[-1])
    assert (found >= given_path.min(axis=0) - 1e-12).all() and (found <= given_path.max(axis=0) + 1e-12).all()


def test_resampling_is_over_time_not_over_arc_length() -> None:
    waits = np.asarray([[0.0, 0, 0]] * 9 + [[1.0, 0, 0]] * 2)  # 9 of 11 moments at the start
    assert np.mean(resample(waits, 50)[:, 0] < 0.5) > 0.75


def test_thresholds_are_the_percentiles_of_the_successes_distances_from_their_mean() -> None:
    line = np.linspace([0, 0, 0.3], [0.4, 0, 0.0], 50)
    offsets = np.asarray([-4, -2, -1, 1, 2, 4]) * 0.01
    around = corridor([path(line + [0, y, 0]) for y in offsets])
    assert around.mean_m == pytest.approx(line)
    assert around.distances_m == pytest.approx(np.abs(offsets))
    assert list(around.thresholds_m) == ["max", "p99", "p95", "p90"]
    assert around.thresholds_m["max"] == pytest.approx(0.04)
    assert around.thresholds_m["p90"] == pytest.approx(np.percentile(np.abs(offsets), 90))
    # left out of the mean of n, a success is n / (n - 1) times as far from it
    assert around.left_out_m == pytest.approx(np.abs(offsets) * 6 / 5)
    assert around.near(0.04 - 1e-9)["max"] and not around.near(0.0401)["max"]


def test_leaving_out_and_a_least_width_only_widen() -> None:
    rng = np.random.default_rng(1)
    successes = [path(walk(rng, 50)) for _ in range(8)]
    plain = corridor(successes)
    apart = corridor(successes, leave_one_out=True)
    wide = corridor(successes, least_width_m=0.5)
    for name, limit in plain.thresholds_m.items():
        assert apart.thresholds_m[name] > limit
        assert wide.thresholds_m[name] == max(limit, 0.5)


def reach(target: F64, start: F64 | None = None, act: F64 | None = None) -> F64:
    """Return a straight way to ``target`` and then, if given, a motion ``act`` on from there."""
    start = np.asarray([0.3, 0.0, 0.4]) if start is None else start
    way = np.linspace(start, target, 40)
    return way if act is None else np.concatenate([way, np.linspace(target, target + act, 20)])


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_paths_to_a_target_that_stands_elsewhere_agree_once_moved_to_one_place(seed: int) -> None:
    rng = np.random.default_rng(seed)
    up = np.asarray([0, 0, 0.1])
    targets = rng.uniform([0.4, -0.2, 0.02], [0.7, 0.2, 0.02], (8, 3))
    successes = [path(reach(t, act=up), target=t) for t in targets]
    place = Place.of(successes)
    for success in successes:
        aligned = place.aligned(success)
        assert aligned[0] == pytest.approx(place.start_m - place.target_m)
        assert aligned[39] == pytest.approx(np.zeros(3), abs=1e-9)
        assert aligned[-1, 2] == pytest.approx(0.1)
    moved, recorded = corridor(successes, "target"), corridor(successes)
    assert moved.thresholds_m["max"] < min(0.03, recorded.thresholds_m["max"] / 2)


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_a_miss_stays_a_miss_of_its_size_and_another_object_stays_elsewhere(seed: int) -> None:
    rng = np.random.default_rng(seed)
    targets = rng.uniform([0.4, -0.2, 0.02], [0.7, 0.2, 0.02], (10, 3))
    around = corridor([path(reach(t), target=t) for t in targets], "target")
    target = targets[0]
    angle = rng.uniform(0, 2 * np.pi)
    beside = target + 0.02 * np.asarray([np.cos(angle), np.sin(angle), 0])
    missed = path(reach(beside), False, target)
    assert np.linalg.norm(around.seen(missed)[-1]) == pytest.approx(0.02, abs=0.002)
    assert around.distance_m(missed) < 0.03
    away = 0.15 * np.asarray([np.cos(angle), np.sin(angle), 0])
    assert around.distance_m(path(reach(target + away), False, target)) > 0.03


def test_a_robot_that_stands_still_or_stops_halfway_is_not_carried_to_the_target() -> None:
    targets = [np.asarray([0.5, y, 0.02]) for y in (-0.2, -0.1, 0.0, 0.1, 0.2)]
    around = corridor([path(reach(t), target=t) for t in targets], "target")
    for target in targets:
        still = np.repeat(reach(target)[:1], 40, axis=0)
        assert around.distance_m(path(still, False, target)) > 0.1
        halfway = np.concatenate([reach(target)[:20], np.repeat(reach(target)[20:21], 20, axis=0)])
        assert around.distance_m(path(halfway, False, target)) > 0.03


def test_a_hand_that_starts_at_its_target_is_no_division_by_zero() -> None:
    here = np.zeros(3)
    place = Place.of([path(np.zeros((5, 3)), target=here)])
    assert np.isfinite(place.aligned(path(np.zeros((5, 3)), target=here))).all()
