"""Success under paraphrase on known answers: invented tables, and one published rollout each."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.metrics.cells import GroupResult, cell_results, contrast, marginals, mean_over_seeds
from heedful.metrics.paraphrase_drop import drop_result
from heedful.metrics.paraphrase_outcomes import Arm, ParaphraseOutcome, matched
from heedful.metrics.paraphrase_summary import ParaphraseSummary, PolicyResult, summarise_paraphrases
from heedful.spec.codec import from_json
from heedful.spec.paraphrase import CELLS, ORIGINAL, Cell, cell, parse_key

SAMPLE = Path(__file__).parents[3] / "shared" / "data" / "libero_para_sample.csv"
HINT, PULL, BOTH = cell("none/hint"), cell("addition_deletion/none"), cell("addition_deletion/hint")


def one(
    success: bool,
    where: Cell | None = HINT,
    *,
    key: str = "",
    original: str = "open it",
    seed: str = "",
    policy: str = "p",
    arm: Arm = "paraphrase",
    similarity: float | None = None,
) -> ParaphraseOutcome:
    words = f"{original} {where} {key}" if arm == "paraphrase" else original
    key = key or f"{original}/{where}" if arm == "paraphrase" else ""
    return ParaphraseOutcome(
        policy, original, words, key, where, success, seed, "", arm, similarity, similarity
    )  # fmt: skip


def several(successes: int, rollouts: int, where: Cell, **more: Any) -> Iterator[ParaphraseOutcome]:
    prefix = more.pop("key", "")
    for i in range(rollouts):
        yield one(i < successes, where, key=f"{prefix}{where.name}{i}", **more)


def policies(outcomes: Sequence[ParaphraseOutcome], **more: Any) -> tuple[PolicyResult, ...]:
    data = summarise_paraphrases(outcomes, **more)
    return from_json(ParaphraseSummary, {"policies": data["policies"]}).policies


def named(results: Sequence[GroupResult]) -> dict[str, GroupResult]:
    return {result.name: result for result in results}


@pytest.fixture(scope="module")
def sample() -> dict[str, Any]:
    if not SAMPLE.exists():
        pytest.skip("the published sample is not here")
    with SAMPLE.open() as file:
        outcomes = [
            ParaphraseOutcome(
                "published",
                row["original_instruction"],
                row["new_instruction"],
                row["bddl_file"],
                parse_key(row["bddl_file"]).cell,
                row["success"] == "1",
                keyword_similarity=float(row["keyword_similarity"]),
                structural_similarity=float(row["structural_similarity"]),
            )
            for row in csv.DictReader(file)
        ]
    return summarise_paraphrases(outcomes)


def test_the_published_sample_gives_the_published_numbers(sample: dict[str, Any]) -> None:
    assert 100 * sample["success_rate"] == pytest.approx(77.0186, abs=1e-4)
    assert sample["pride"]["0.0"] == pytest.approx(74.6598, abs=1e-4)
    assert sample["pride"]["0.5"] == pytest.approx(70.8090, abs=1e-4)
    assert sample["pride"]["1.0"] == pytest.approx(66.2143, abs=1e-4)
    assert len(sample["cells"]) == 43
    assert sum(found["rollouts"] for found in sample["cells"]) == 805


def test_the_published_sample_falls_with_distance_as_published(sample: dict[str, Any]) -> None:
    correlation = sample["policies"][0]["correlation"]
    assert -0.88 <= correlation["r"]["value"] <= -0.67
    assert correlation["p_value"] < 1e-6


def test_pooled_rates_count_rollouts_and_the_authors_way_counts_cells_and_seeds_equally() -> None:
    outcomes = [
        *several(8, 10, HINT, seed="1"),  # 0.8
        *several(0, 2, HINT, seed="2"),  # 0.0
        *several(1, 4, BOTH, seed="1"),  # 0.25
    ]
    assert mean_over_seeds([o for o in outcomes if o.cell == HINT]) == pytest.approx(0.4)
    cells = cell_results(outcomes, CELLS, 0.5, np.random.default_rng(0))
    by_action = named(marginals(outcomes, cells, 0.5, np.random.default_rng(0)).action_types)["hint"]
    assert by_action.success.value == pytest.approx(9 / 16)
    assert by_action.authors == pytest.approx((0.4 + 0.25) / 2)
    (policy,) = policies(outcomes)
    assert policy.authors_success == pytest.approx((0.4 + 0.25) / 2)
    assert policy.success.value == pytest.approx(9 / 16)


def test_every_rollout_with_a_cell_is_in_one_name_of_every_margin() -> None:
    outcomes = [*several(3, 5, HINT), *several(2, 3, PULL), *several(1, 2, BOTH), one(True, None, key="x")]
    (policy,) = policies(outcomes)
    m = policy.marginals
    for results in (m.object_types, m.action_types, m.axes, m.categories):
        assert sum(result.rollouts for result in results) == 10
    assert {r.name: r.rollouts for r in m.categories} == {"obj": 3, "act": 5, "comp": 2}
    assert {r.name: r.rollouts for r in m.axes} == {"none": 3, "pragmatic": 7}
    assert policy.unplaced == 1
    assert policy.rollouts == 11


def test_cells_say_what_was_expected_and_what_was_not_run() -> None:
    (policy,) = policies(list(several(1, 3, HINT)), expected={HINT.name: 88})
    by_cell = {result.cell: result for result in policy.cells}
    assert (by_cell[HINT].expected, by_cell[HINT].result and by_cell[HINT].result.paraphrases) == (88, 3)
    assert (by_cell[BOTH].expected, by_cell[BOTH].result) == (0, None)


def test_intervals_are_clustered_by_original_instruction() -> None:
    together = [
        o
        for t, good in (("a", 20), ("b", 0), ("c", 20), ("d", 0))
        for o in several(good, 20, HINT, original=t)
    ]
    apart = [o for t in "abcd" for o in several(10, 20, HINT, original=t)]
    widths = []
    for outcomes in (together, apart):
        (policy,) = policies(outcomes)
        assert policy.success.value == 0.5
        assert policy.success.low is not None
        assert policy.success.high is not None
        widths.append(policy.success.high - policy.success.low)
    assert widths[0] > 2 * widths[1]


def test_seeds_that_disagree_widen_the_interval() -> None:
    tasks = "abcdefghij"
    alike = [o for s in "123" for t in tasks for o in several(2, 4, HINT, original=t, seed=s)]
    apart = [
        o
        for s, k in zip("123", (0, 2, 4), strict=True)
        for t in tasks
        for o in several(k, 4, HINT, original=t, seed=s)
    ]
    (a,), (b,) = policies(alike), policies(apart)
    assert a.success.value == b.success.value == 0.5
    assert (a.success.high or 0) - (a.success.low or 0) < (b.success.high or 0) - (b.success.low or 0)
    assert [round(s.success.value or 0, 3) for s in b.by_seed] == [0.0, 0.5, 1.0]


def test_pride_counts_far_paraphrases_more_and_leaves_unscored_rollouts_out() -> None:
    far, near, unknown = (
        one(False, similarity=0.5, key="far"),
        one(True, similarity=0.9, key="near"),
        one(True, key="unknown"),
    )
    data = summarise_paraphrases([far, near, unknown])
    assert data["pride"]["0.5"] == pytest.approx(100 * 0.1 / 0.6)
    assert data["policies"][0]["scored"] == 2
    assert data["success_rate"] == pytest.approx(2 / 3)


def test_without_similarities_there_is_no_pride_and_all_else_is_there() -> None:
    data = summarise_paraphrases(list(several(3, 4, HINT)))
    assert data["pride"] == {}
    assert data["policies"][0]["pride"] is None
    assert data["policies"][0]["correlation"] is None
    assert data["success_rate"] == 0.75


def test_an_alpha_between_the_steps_of_the_sweep_is_in_it() -> None:
    data = summarise_paraphrases([one(True, similarity=0.5)], alpha=0.33)
    assert data["pride"]["0.33"] == 100.0
    assert data["policies"][0]["alpha"] == 0.33


def test_short_keys_stand_at_the_top_for_one_policy_only() -> None:
    alone = summarise_paraphrases([one(True)])
    assert {"success_rate", "pride", "cells", "policies"} == set(alone)
    assert set(summarise_paraphrases([one(True), one(True, policy="q")])) == {"policies"}


def test_the_drop_compares_with_the_control_of_the_same_seed_and_task() -> None:
    outcomes = [
        one(True, ORIGINAL, original="a", seed="1", arm="original"),
        one(False, ORIGINAL, original="b", seed="1", arm="original"),
        *several(1, 4, HINT, original="a", seed="1"),
        *several(2, 4, HINT, original="b", seed="1"),
        *several(4, 4, HINT, original="a", seed="2"),  # no control on this seed
    ]
    (policy,) = policies(outcomes)
    drop = policy.drops[0]
    assert (drop.name, drop.pairs, policy.unmatched) == ("all", 8, 4)
    assert (drop.original, drop.paraphrase) == (0.5, 3 / 8)
    assert drop.drop.value == pytest.approx(1 / 8)
    assert (drop.both, drop.original_only, drop.paraphrase_only, drop.neither) == (1, 3, 2, 2)
    assert policy.rollouts == 12  # controls are no paraphrases


def test_a_control_that_was_run_several_times_counts_with_its_mean() -> None:
    controls = [one(s, ORIGINAL, arm="original") for s in (True, True, False, True)]
    (pair,) = matched([one(False)], controls)
    assert pair.control == 0.75


def test_tasks_that_all_agree_do_not_shrink_the_drops_interval_to_a_point() -> None:
    pairs = matched(
        [o for t in "abc" for o in several(0, 5, HINT, original=t)],
        [one(True, ORIGINAL, original=t, arm="original") for t in "abc"],
    )
    drop = drop_result("all", pairs, np.random.default_rng(0)).drop
    assert drop.value == 1.0
    assert drop.low is not None
    assert drop.low < 0.9


def test_the_contrast_takes_out_that_tasks_differ() -> None:
    easy = [*several(10, 10, HINT, original="easy"), *several(9, 10, PULL, original="easy")]
    hard = [*several(2, 10, HINT, original="hard"), *several(1, 10, PULL, original="hard")]
    own, others = ([o for o in easy + hard if o.cell == c] for c in (PULL, HINT))
    found = contrast(own, others, np.random.default_rng(0))
    assert found is not None
    assert found.value == pytest.approx(-0.1)
    assert contrast(own, [replace(o, original="another") for o in others], np.random.default_rng(0)) is None


def test_the_worst_paraphrases_are_those_that_surely_fail_then_the_nearest() -> None:
    outcomes = [
        *[one(False, key="thrice", similarity=0.2) for _ in range(3)],
        one(False, key="far", similarity=0.2),
        one(False, key="near", similarity=0.9),
        one(True, key="fine", similarity=0.5),
    ]
    (policy,) = policies(outcomes)
    assert [w.key for w in policy.worst] == ["thrice", "near", "far"]
    assert (policy.worst[0].rollouts, policy.worst[0].successes) == (3, 0)


def test_paraphrases_that_miss_a_seed_are_counted() -> None:
    outcomes = [one(True, key=k, seed=s) for k, s in (("a", "7"), ("a", "8"), ("b", "7"), ("c", "8"))]
    (policy,) = policies(outcomes)
    assert (policy.uneven, policy.seeds) == (2, ("7", "8"))
    assert policies([one(True, key="a"), one(True, key="b")])[0].uneven == 0


@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(CELLS), st.booleans(), st.sampled_from("abc"), st.floats(0, 1)),
        min_size=1,
        max_size=30,
    )
)
def test_whatever_was_run_the_numbers_agree_with_each_other(
    rows: list[tuple[Cell, bool, str, float]],
) -> None:
    outcomes = [
        one(good, where, key=str(i), original=task, similarity=near)
        for i, (where, good, task, near) in enumerate(rows)
    ]
    data = summarise_paraphrases(outcomes)
    assert sum(c["successes"] for c in data["cells"]) == sum(good for _, good, _, _ in rows)
    assert data["success_rate"] == pytest.approx(sum(good for _, good, _, _ in rows) / len(rows))
    for pride in data["pride"].values():
        assert pride is None or 0 <= pride <= 100
    if all(good for _, good, _, _ in rows):
        assert {p for p in data["pride"].values() if p is not None} <= {100.0}
    for policy in policies(outcomes):
        for result in (policy.success, *(c.result.success for c in policy.cells if c.result)):
            assert result.low is not None
            assert result.high is not None
            assert 0 <= result.low <= (result.value or 0) <= result.high <= 1


def test_nothing_is_no_policy() -> None:
    assert summarise_paraphrases([]) == {"policies": []}
