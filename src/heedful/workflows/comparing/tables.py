"""The small tables of a comparison, fit to be kept with a paper or in a repository."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

SUCCESS_HEAD = (
    "strategy",
    "f",
    "n",
    "training_seeds",
    "cells",
    "part",
    "successes",
    "rollouts",
    "success",
    "low",
    "high",
    "naive_low",
    "naive_high",
)
DIFFERENCE_HEAD = (
    "a",
    "b",
    "f",
    "n",
    "ground",
    "difference",
    "low",
    "high",
    "naive_low",
    "naive_high",
    "p_value",
    "real",
    "seeds_needed",
    "rollouts_needed_times",
)


def success_csv(found: Mapping[str, Any]) -> str:
    """Return success of every arm on held-out, on collected and on all cells, as CSV.

    Args:
        found: Content of ``comparison.json``.
    """
    rows = []
    for arm in found["arms"]:
        cells = sorted({plan["cells"] for plan in arm["plans"]})
        for part, rates in arm["success"].items():
            one = rates["pooled"]
            rows.append(
                [
                    arm["strategy"],
                    arm["changes"],
                    arm["demos"],
                    len(arm["plans"]),
                    "-".join(map(str, dict.fromkeys((cells[0], cells[-1])))),
                    part,
                    one["successes"],
                    one["trials"],
                    *(_number(one["rate"][key]) for key in ("value", "low", "high")),
                    *(_number(one["naive"][key]) for key in ("low", "high")),
                ]
            )
    return _csv(SUCCESS_HEAD, rows)


def differences_csv(found: Mapping[str, Any]) -> str:
    """Return every difference, as CSV; empty needs are out of reach or not needed.

    Args:
        found: Content of ``comparison.json``.
    """
    rows = []
    for one in found["differences"]:
        need = one["need"] or {"seeds": None, "rollouts": None}
        rows.append(
            [
                *(one[key] for key in ("a", "b", "changes", "demos", "ground")),
                *(_number(one["value"][key]) for key in ("value", "low", "high")),
                *(_number(one["naive"][key]) for key in ("low", "high")),
                _number(one["p_value"]),
                one["real"],
                need["seeds"],
                need["rollouts"],
            ]
        )
    return _csv(DIFFERENCE_HEAD, rows)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _csv(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n")
    write.writerow(head)
    write.writerows(rows)
    return text.getvalue()
