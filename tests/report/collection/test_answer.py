"""The answer in words follows the numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from heedful.report.collection.answer import beaten, best_arm, evidence, headline, unsettled
from heedful.report.collection.findings import read_comparison_findings, read_mend_findings
from heedful.report.collection.mend_answer import headline as mend_headline

Make = Callable[..., dict[str, Any]]


def spoken(words: str) -> str:
    return words.replace("\N{NO-BREAK SPACE}", " ")


def test_a_clear_winner_is_named(make_comparison: Make) -> None:
    data = make_comparison({"v": 0.9, "l": 0.4, "random": 0.45}, spread=0.0, changes=(18, 24))
    findings = read_comparison_findings(data)
    assert spoken(headline(findings)) == "On cells it was not shown, **V** does best at every f."
    best = best_arm(findings, (18, 200))
    assert best is not None and best.strategy == "v"
    assert sorted(beaten(findings, best)) == ["l", "random"]
    assert "points less (real)" in evidence(findings, (18, 200))
    assert unsettled(findings) is None


def test_equal_strategies_are_not_ranked(make_comparison: Make) -> None:
    data = make_comparison({"v": 0.5, "l": 0.5, "random": 0.5}, spread=0.0, changes=(18,))
    findings = read_comparison_findings(data)
    assert (
        headline(findings) == "On cells they were not shown, no strategy is shown to be better than another."
    )
    words = unsettled(findings)
    assert words is not None and "±" in words
    assert "training seeds" in words


def test_a_lone_strategy_is_compared_with_nothing(make_comparison: Make) -> None:
    findings = read_comparison_findings(make_comparison(strategies=("v",), changes=(18,)))
    assert headline(findings).startswith("Nothing is compared")


def test_a_plan_that_mends_says_so_and_one_that_does_not_does_not(make_closed_loop: Make) -> None:
    mended, not_mended = (read_mend_findings(make_closed_loop(seeds=3, gain=gain)) for gain in (0.4, 0.0))
    assert "mended it" in mend_headline(mended)
    assert "not shown to beat" in mend_headline(not_mended)


def test_the_widest_interval_counts_also_where_nothing_varies(make_comparison: Make) -> None:
    data = make_comparison({"v": 0.5, "l": 0.5, "random": 0.5}, spread=0.0, changes=(18,))
    one = next(d for d in data["differences"] if d["ground"] == "own_held_out")
    one["half_width"] = None
    one["value"] |= {"low": -0.49, "high": 0.28}
    assert "38.5" in str(unsettled(read_comparison_findings(data)))
