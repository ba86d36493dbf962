"""What a reader of the pages about collecting sees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from page_structure import check_page, text

from heedful.report.collection.build import build_comparison, build_grid, build_mend
from heedful.report.collection.context import comparison_context
from heedful.report.collection.mend_context import mend_context
from heedful.report.page import render
from heedful.report.words import percent, percent_interval
from heedful.spec.codec import from_json
from heedful.spec.errors import UserError
from heedful.spec.rollout import Estimate


def compared(data: dict[str, Any]) -> str:
    return render(comparison_context(data, name="cmp"), "compare.html.j2")


@pytest.fixture(scope="module")
def data(make_comparison: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    return make_comparison(spread=0.0)


@pytest.fixture(scope="module")
def loop(make_closed_loop: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    return make_closed_loop()


@pytest.fixture(scope="module")
def pages(
    data: dict[str, Any],
    loop: dict[str, Any],
    make_comparison: Callable[..., dict[str, Any]],
    make_closed_loop: Callable[..., dict[str, Any]],
) -> dict[str, str]:
    return {
        "comparison": compared(data),
        "one budget": compared(make_comparison(changes=(18,), seeds=1)),
        "one strategy": compared(make_comparison(changes=(18,), strategies=("v",))),
        "over n": compared(make_comparison(changes=(18,), demos=(50, 100), rollouts=72)),
        "other factors": compared(
            make_comparison(factors=("verb", "color", "spatial"), changes=(30,), rollouts=60, seeds=2)
        ),
        "loop": render(mend_context(loop, name="mend"), "mend.html.j2"),
        "loop of one seed": render(mend_context(make_closed_loop(seeds=1, gain=0), name="m"), "mend.html.j2"),
    }


WHICH = ("comparison", "one budget", "one strategy", "over n", "other factors", "loop", "loop of one seed")


@pytest.mark.parametrize("which", WHICH)
def test_every_page_is_sound_html_that_loads_nothing(pages: dict[str, str], which: str) -> None:
    check_page(pages[which])


def test_numbers_are_those_of_the_comparison(data: dict[str, Any], pages: dict[str, str]) -> None:
    said = text(pages["comparison"])
    for arm in data["arms"]:
        shown = " ".join(
            f"{percent(rate.value)} {percent_interval(rate)}"
            for part in ("held_out", "collected", "all")
            for rate in [from_json(Estimate, arm["success"][part]["pooled"]["rate"])]
        )
        assert shown in said
        assert f"f = {arm['changes']}, n = 200" in said.replace("\N{NO-BREAK SPACE}", " ")
    for one in data["differences"]:
        assert one["verdict"].replace("**", "") in said.replace("\N{NO-BREAK SPACE}", " ")


def test_f_and_n_stand_beside_each_other_and_are_equal(data: dict[str, Any]) -> None:
    for arm in data["arms"]:
        assert {plan["f"] for plan in arm["plans"]} == {arm["changes"]}
        assert {plan["n"] for plan in arm["plans"]} == {200}
        for plan in arm["plans"]:
            low, high = plan["demonstrations_a_cell"]
            assert high - low <= 1


def test_unequal_costs_are_said(data: dict[str, Any]) -> None:
    arm = {**data["arms"][0], "plans": [{**plan, "collected_n": 199} for plan in data["arms"][0]["plans"]]}
    said = text(compared({**data, "arms": [arm, *data["arms"][1:]]}))
    assert "the plans do not cost the same: n is 199 to 200" in said


def test_what_is_left_out_is_said_up_front(pages: dict[str, str]) -> None:
    said = text(pages["comparison"])
    assert "Strategy v is left out at f = 12: its least is 14." in said.partition("In numbers")[0]


def test_one_seed_is_warned_of_and_nothing_is_real(pages: dict[str, str]) -> None:
    said = text(pages["one budget"])
    assert "no interval holds the spread between trainings" in said
    assert "not settled" in said
    assert ": real." not in said


def test_cells_are_counted_over_cell_and_seed(data: dict[str, Any]) -> None:
    for arm in data["arms"]:
        pooled = {part: arm["success"][part]["pooled"] for part in ("held_out", "collected")}
        for part, rate in pooled.items():
            assert rate["trials"] == sum(cell[f"{part}_trials"] for cell in arm["grid"])
            assert rate["successes"] == sum(cell[f"{part}_successes"] for cell in arm["grid"])
        assert sum(c["seeds_collected"] for c in arm["grid"]) == sum(p["cells"] for p in arm["plans"])
        assert sum(c["demonstrations"] for c in arm["grid"]) == 200 * len(arm["plans"])


def test_only_two_factors_are_drawn_as_a_grid(pages: dict[str, str]) -> None:
    assert "Only grids of two factors are drawn" in text(pages["other factors"])
    assert pages["comparison"].count('data-figure="cells-') == 8


def test_the_loop_says_before_control_and_after(loop: dict[str, Any], pages: dict[str, str]) -> None:
    said = text(pages["loop"]).replace("\N{NO-BREAK SPACE}", " ")
    assert "mended it: on cells nobody was shown" in said
    for stage in loop["stages"]:
        rate = from_json(Estimate, stage["success"]["all"]["pooled"]["rate"])
        assert f"{percent(rate.value)} {percent_interval(rate)}" in said
    assert [stage["demonstrations"] for stage in loop["stages"]] == [300, 500, 500]
    assert "is not shown to beat" in text(pages["loop of one seed"]).replace("\N{NO-BREAK SPACE}", " ")


def test_pages_are_written_with_their_figures(
    data: dict[str, Any], loop: dict[str, Any], tmp_path: Path
) -> None:
    page = build_comparison(data, tmp_path / "cmp", name="cmp")
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert (tmp_path / "cmp" / "figures" / "success-over-f.svg").is_file()
    assert build_mend(loop, tmp_path / "mend", name="mend").is_file()


def test_damaged_results_are_one_line(data: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="comparison.json: arms"):
        build_comparison({**data, "arms": 3}, tmp_path / "cmp", name="cmp")
    with pytest.raises(UserError, match="mend.json: request"):
        build_mend({}, tmp_path / "mend", name="mend")
    with pytest.raises(UserError, match="not that of a run of suite grid"):
        build_grid({"policies": []}, tmp_path / "grid", name="grid")
