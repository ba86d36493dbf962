"""The tables of a comparison hold its numbers."""

from __future__ import annotations

import csv
import io

from heedful.workflows.comparing.tables import differences_csv, success_csv


def rate(value: float | None, n: int) -> dict[str, object]:
    estimate = {"value": value, "low": value and value - 0.1, "high": value and value + 0.1}
    return {"rate": estimate, "naive": estimate, "successes": round((value or 0) * n), "trials": n}


FOUND = {
    "arms": [
        {
            "strategy": "v",
            "changes": 18,
            "demos": 200,
            "plans": [{"cells": 18}, {"cells": 17}],
            "success": {"held_out": {"pooled": rate(0.5, 10)}, "collected": {"pooled": rate(None, 0)}},
        }
    ],
    "differences": [
        {
            "a": "v",
            "b": "l",
            "changes": 18,
            "demos": 200,
            "ground": "all",
            "value": {"value": 0.25, "low": -0.1, "high": 0.6},
            "naive": {"low": 0.1, "high": 0.4},
            "p_value": None,
            "real": False,
            "need": {"seeds": 7, "rollouts": None},
        }
    ],
}


def test_success_is_one_row_an_arm_and_part() -> None:
    first, second = csv.DictReader(io.StringIO(success_csv(FOUND)))
    assert (first["strategy"], first["f"], first["cells"], first["part"]) == ("v", "18", "17-18", "held_out")
    assert (first["successes"], first["rollouts"], first["success"], first["low"]) == (
        "5",
        "10",
        "0.5",
        "0.4",
    )
    assert (second["success"], second["low"]) == ("", "")


def test_a_difference_says_what_would_separate_it() -> None:
    (only,) = csv.DictReader(io.StringIO(differences_csv(FOUND)))
    assert (only["difference"], only["real"], only["seeds_needed"]) == ("0.25", "False", "7")
    assert (only["p_value"], only["rollouts_needed_times"]) == ("", "")
