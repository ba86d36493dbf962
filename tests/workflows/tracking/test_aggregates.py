import pytest

from heedful.workflows.tracking.aggregates import COUNTS, ESTIMATES, aggregates, parts


def estimate(value: float | None, n: int = 3) -> dict[str, object]:
    return {"value": value, "low": 0.1, "high": 0.7, "n": n, "method": "Wilson", "level": 0.95}


METRICS = {
    "takeaway": "words stay here",
    "tau": 0.05,
    "policies": [
        {
            "name": "reference:policies/co",
            "pairs": [
                {
                    "pair": "color,object",
                    "counts": {"overfit_1": 2, "neither": 1},
                    "fdr": estimate(0.1 + 0.2),
                    "success": None,
                    "empty_instruction": {"fdr": estimate(None, 0)},
                    "by_training_seed": [
                        {"training_seed": 0, "fdr": estimate(-0.5)},
                        {"training_seed": 7, "fdr": estimate(0.5)},
                    ],
                }
            ],
        },
        {"name": "reference:policies:co", "pairs": [{"pair": "color,object", "fdr": estimate(0.25)}]},
    ],
    "sweep": [{"alpha": 0.05, "pride": estimate(81.9)}],
    "cells": [{"cell": {"object": "none", "action": "lexical"}, "result": {"success": estimate(1.0)}}],
    "warnings": ["words", "more words"],
}


def test_every_estimate_has_a_name_and_its_own_numbers() -> None:
    found = aggregates("factors", METRICS).values
    pair = "factors/reference:policies:co/color>object"
    assert found[f"{pair}/fdr/value"] == 0.30000000000000004
    assert (found[f"{pair}/fdr/low"], found[f"{pair}/fdr/high"], found[f"{pair}/fdr/n"]) == (0.1, 0.7, 3)
    assert found[f"{pair}/empty_instruction/fdr/value"] is None
    assert found[f"{pair}/by_training_seed/7/fdr/value"] == 0.5
    assert found["factors/sweep/0.05/pride/value"] == 81.9
    assert found["factors/cells/none,lexical/result/success/value"] == 1.0
    assert len(found) == 4 * 7
    assert {name.rpartition("/")[2] for name in found} == {"value", "low", "high", "n"}


def test_names_that_would_be_one_are_told_apart_and_the_first_keeps_its_own() -> None:
    found = aggregates("factors", METRICS).values
    other = [name for name in found if found[name] == 0.25]
    assert len(other) == 1
    assert other[0].startswith("factors/reference:policies:co~")
    assert parts(["a/b", "a:b", "c"])[:1] == parts(["a/b"])
    assert len(set(parts(["a", "a", "a", "a/b", "a:b"]))) == 5


def test_the_tables_hold_the_same_numbers_and_the_counts() -> None:
    found = aggregates("factors", METRICS, "runs/x/report/index.html")
    assert found.report == "runs/x/report/index.html"
    table = found.tables[ESTIMATES]
    assert table.columns == ("estimate", "value", "low", "high", "n", "level", "method")
    pair = "factors/reference:policies:co/color>object"
    assert (f"{pair}/fdr", 0.30000000000000004, 0.1, 0.7, 3, 0.95, "Wilson") in table.rows
    assert found.tables[COUNTS].rows == ((pair, "overfit_1", 2), (pair, "neither", 1))


@pytest.mark.parametrize("metrics", [{}, {"takeaway": "none", "policies": []}])
def test_a_run_without_estimates_has_no_tables(metrics: dict[str, object]) -> None:
    assert aggregates("grid", metrics).tables == {}
