"""What a reader of the page sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from page_structure import check_page, check_structure, text

from heedful.report import words
from heedful.report.context import page_context
from heedful.report.findings import read_findings
from heedful.report.material import EncoderResult, Material, Training
from heedful.report.page import render
from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.rollout import Estimate

PLANTED = "planted:color>object>spatial>verb>size"


def shown(run: Any, **more: Any) -> str:
    return render(page_context(Material("run", run.metrics, spec=run.spec, rows=run.rows, **more), ()))


@pytest.fixture(scope="module")
def pages(single: Any, complete: Any, make_run: Callable[..., Any]) -> dict[str, str]:
    planted = make_run("all", entries=[PolicyEntry(PLANTED, "planted")], rollouts=24, in_distribution=0)
    many = [PolicyEntry(f"reference:p{i}", f"policy {i}", i) for i in range(4)]
    several = make_run(["color,object", "verb,size"], entries=many, rollouts=24, in_distribution=0, empty=0)
    weak = make_run(["color,object", "color,spatial"], able=0.4, neither=0.6, nothing=["color,spatial"])
    return {
        "single": shown(single, known_answer=planted.metrics),
        "complete": shown(complete, made_at="2025-11-30"),
        "planted": shown(planted),
        "several": shown(several),
        "weak": shown(weak),
        "bare": render(page_context(Material("bare", {"policies": []}), ())),
    }


@pytest.mark.parametrize("which", ["single", "complete", "planted", "several", "weak", "bare"])
def test_every_report_is_sound_html_that_loads_nothing(pages: dict[str, str], which: str) -> None:
    check_page(pages[which])


def test_numbers_are_those_of_the_metrics(pages: dict[str, str], complete: Any) -> None:
    said = text(pages["complete"])
    for pair in read_findings(complete.metrics).policies[0].pairs:
        seen = pair.in_distribution
        assert seen is not None
        assert seen.success is not None
        row = " ".join(
            [
                f"{pair.factor_1}, {pair.factor_2}",
                words.fdr(pair.fdr.value),
                words.fdr_interval(pair.fdr),
                words.fdr_interval(pair.fdr_naive),
                f"{pair.counts.overfit_1} {pair.counts.overfit_2} {pair.counts.success}",
                f"{pair.counts.neither} ({words.percent(pair.counts.share('neither'), 0)})",
                f"{pair.counts.crashed} {words.percent(seen.success.value)}",
            ]
        )
        assert row in said


def test_the_first_screen_answers_in_words(pages: dict[str, str]) -> None:
    heading = re.search(r"<h1>(.*?)</h1>", pages["single"], re.DOTALL)
    assert heading is not None
    assert (
        text(heading[1]).replace(" .", ".") == "When color and object conflict, reference follows the object."
    )


def test_hierarchy_with_ties_is_printed_as_ties(complete: Any) -> None:
    metrics = dict(complete.metrics)
    found = dict(metrics["policies"][0])
    hierarchy = dict(found["hierarchy"])
    hierarchy["levels"] = [["color"], ["object", "spatial"], ["verb", "size"]]
    hierarchy["copeland"] = {"color": 4, "object": 2, "spatial": 2, "verb": 0, "size": 0}
    hierarchy["order_kept"] = [{"above": ["color"], "below": ["object", "spatial"], "sure": 0.876}]
    metrics["policies"] = [{**found, "hierarchy": hierarchy}]
    page = render(page_context(Material("run", metrics), ()))
    assert "color › object = spatial › verb = size" in text(page)
    ladder = re.search(r'data-figure="p0-hierarchy">(.*?)</figure>', page, re.DOTALL)
    assert ladder is not None
    drawn = text(ladder[1])
    assert drawn.count("tied") == 2
    assert "wins 4 of 4" in drawn
    assert "kept in 88 % of draws" in drawn


def test_undefined_is_never_zero(pages: dict[str, str]) -> None:
    row = re.search(r'<th scope="row">color, spatial</th>(.*?)</tr>', pages["weak"], re.DOTALL)
    assert row is not None
    said = text(row[1])
    assert "undefined" in said
    assert "0.00" not in said
    assert "FDR is undefined (not zero)" in text(pages["weak"])


def test_a_weak_policy_is_warned_about_before_its_numbers(pages: dict[str, str]) -> None:
    page = text(pages["weak"])
    assert "too weak for its FDR to mean much" in page
    assert page.index("too weak for its FDR") < page.index("Which factor it followed")
    assert "too weak to say" in page


def test_crashes_are_counted_apart(make_run: Callable[..., Any]) -> None:
    run = make_run(crashed=0.2)
    counts = read_findings(run.metrics).policies[0].pairs[0].counts
    assert counts.crashed > 0
    page = text(shown(run))
    assert f"{counts.crashed} crashed, counted apart" in page
    total = sum(row.status == "crashed" for row in run.rows)
    assert f"{total} × RuntimeError: the gripper did not open" in page


def test_missing_parts_are_named(pages: dict[str, str]) -> None:
    said = text(pages["several"]).partition("Not in this report:")[2]
    for part in ("a hierarchy for policy 0", "success in distribution", "empty-instruction", "known-answer"):
        assert part in said
    assert "no conflict rollout has been judged" in text(pages["bare"])


def test_known_answer_says_planted_and_measured(pages: dict[str, str]) -> None:
    order = "color › object › spatial › verb › size"
    assert f"{order} 0 {order} 10 of 10 yes" in text(pages["single"])
    assert "Known-answer check passed" in text(pages["planted"])


def test_a_failed_known_answer_check_is_the_first_warning(make_run: Callable[..., Any]) -> None:
    run = make_run("all", entries=[PolicyEntry(PLANTED, "planted")], rollouts=24)
    policy = {**run.metrics["policies"][0], "refs": ["planted:size>verb>spatial>object>color"]}
    metrics = {**run.metrics, "policies": [policy], "warnings": ["3 verdicts are impossible."]}
    page = text(render(page_context(Material("run", metrics), ())))
    assert "Known-answer check failed: 0 of 1" in page
    warning = page.partition("before believing the numbers")[2]
    assert warning.strip().startswith("The known-answer check failed for 1 of 1")


def test_everything_from_outside_is_escaped(single: Any) -> None:
    bad = '<script>alert("x")</script>'
    metrics = {
        **single.metrics,
        "judge": bad,
        "warnings": [bad],
        "policies": [{**single.metrics["policies"][0], "name": bad}],
    }
    row = replace(single.rows[0], status="crashed", error=bad)
    training = Training(bad, bad, 0, ((0.0, 1.0), (1.0, 0.5)), {bad: bad})
    page = render(
        page_context(
            Material(
                bad,
                metrics,
                None,
                single.spec,
                {bad: bad},
                (row,),
                (),
                (training,),
                made_at=bad,
                commands=(bad,),
            ),
            (),
        )
    )
    assert "<script>alert" not in page
    check_structure(page)


def test_encoders_of_one_run_are_laid_side_by_side(make_run: Callable[..., Any]) -> None:
    entries = [PolicyEntry("reference:a", "forwards", 0), PolicyEntry("reference:b", "backwards", 0)]
    run = make_run(entries=entries, rollouts=24)
    trainings = tuple(
        Training(e.name, "color,object", 0, facts={"text encoder": name})
        for e, name in zip(entries, ("gru", "gru_reversed"), strict=True)
    )
    said = text(shown(run, trainings=trainings)).partition("Text encoders")[2]
    assert "negative: the object is the last word" in said
    assert "positive: read backwards" in said
    assert "Text encoders" not in text(shown(run, trainings=trainings[:1]))


def test_encoders_may_be_given() -> None:
    estimate = Estimate(-0.94, -0.99, -0.79, 240, "bootstrap")
    page = text(
        render(
            page_context(
                Material("run", {"policies": []}, encoders=(EncoderResult("gru", "color,object", estimate),)),
                (),
            )
        )
    )
    assert "gru color, object – −0.94 [−0.99, −0.79]" in page


def test_published_policies_stand_beside_ours(pages: dict[str, str]) -> None:
    said = text(pages["complete"])
    assert "π0.5 3 2 2 1 0 color › object = spatial › verb › size" in said
    assert "X-VLA 3 3 1 1 0 color = object › spatial = verb › size" in said  # a tie stays a tie
    assert "arXiv 2607.21582" in said


def test_judge_thresholds_come_with_reasons(pages: dict[str, str]) -> None:
    said = text(pages["single"])
    assert re.search(r"lift_m 0\.\d+ m \S+ \S+ \S+", said)
    assert "Otherwise there was no verb: a touch." in said


def test_the_spec_and_the_seeds_are_printed(pages: dict[str, str]) -> None:
    said = text(pages["single"])
    for part in (
        "options.rollouts 120 per policy, training seed and pair",
        "base_seed 0",
        "reference:policies/co",
        "worker time",
    ):
        assert part in said


def test_what_belongs_to_collecting_is_no_part_of_the_run(pages: dict[str, str]) -> None:
    assert "options.demos" not in text(pages["single"])


def test_the_same_object_tile_explains_itself(pages: dict[str, str]) -> None:
    said = text(pages["single"])
    assert "took the same object under both swapped instructions, so ignored those words" in said


def test_a_wide_interval_around_zero_is_not_settled_in_headline_and_table(single: Any) -> None:
    found = single.metrics["policies"][0]
    pair = {
        **found["pairs"][0],
        "fdr": {**found["pairs"][0]["fdr"], "value": -0.05, "low": -0.41, "high": 0.32},
    }
    metrics = {**single.metrics, "policies": [{**found, "pairs": [pair]}]}
    said = text(render(page_context(Material("run", metrics), ())))
    assert "rollouts do not settle whether reference follows color or object." in said
    row = said.partition("All pairs in numbers")[2].partition("Interval:")[0]
    assert row.strip().endswith("not settled")


def test_metrics_of_another_shape_are_a_users_mistake() -> None:
    with pytest.raises(UserError, match=r"metrics\.json: policies"):
        page_context(Material("run", {"suite": "factors"}), ())


def test_likewise_warnings_are_said_once(make_run: Callable[..., Any]) -> None:
    pairs: Sequence[str] = ["color,object", "color,size", "object,size"]
    page = text(shown(make_run(pairs, able=0.4, rollouts=24)))
    assert page.count("in-distribution tasks (combinations bound in training): too weak") == 1
    assert "Likewise in 2 other pairs." in page
