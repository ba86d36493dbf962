from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from heedful.report.figures.bars import fdr_bars
from heedful.report.figures.cells import cell_grid
from heedful.report.figures.curve import loss_curve
from heedful.report.figures.hierarchy import ladder
from heedful.report.figures.matrix import fdr_matrix
from heedful.report.figures.shares import share_rows
from heedful.report.findings import Counts, HierarchyFinding, PairFinding, read_findings
from heedful.report.svg import BLUE, DARK, Canvas, ink_on
from heedful.spec.rollout import Estimate

SVG = "{http://www.w3.org/2000/svg}"


def pair(value: float | None, low: float | None, high: float | None) -> PairFinding:
    naive = Estimate(value, None if low is None else low + 0.1, None if high is None else high - 0.1, 1, "")
    return PairFinding("a,b", "a", "b", Estimate(value, low, high, 9, ""), Counts(), fdr_naive=naive)


def texts(figure: str) -> list[str]:
    return [t.text or "" for t in ET.fromstring(figure).iter(f"{SVG}text")]


def lines(figure: str, width: str) -> list[tuple[float, float]]:
    return [
        (float(e.attrib["x1"]), float(e.attrib["x2"]))
        for e in ET.fromstring(figure).iter(f"{SVG}line")
        if e.attrib.get("stroke-width") == width and e.attrib["y1"] == e.attrib["y2"]
    ]


def test_bars_draw_both_intervals_to_scale() -> None:
    figure = fdr_bars([pair(0.4, -0.2, 0.8)], 0.05, "k")
    ((thick_low, thick_high),) = lines(figure, "4")
    ((thin_low, thin_high),) = lines(figure, "1.2")
    middle, half = (92 + 486) / 2, (486 - 92) / 2
    assert (thick_low, thick_high) == pytest.approx((middle - 0.2 * half, middle + 0.8 * half))
    assert (thin_low, thin_high) == pytest.approx((middle - 0.1 * half, middle + 0.7 * half))


def test_bars_point_to_the_factor_that_was_followed() -> None:
    positive, negative = (fdr_bars([pair(v, v - 0.1, v + 0.1)], 0.05, "k") for v in (0.5, -0.5))
    for figure, winner in ((positive, "a"), (negative, "b")):
        bold = [t.text for t in ET.fromstring(figure).iter(f"{SVG}text") if t.attrib.get("font-weight")]
        assert winner in bold
    assert "url(#k-hatch)" in negative  # told apart without colour, too
    assert "url(#k-hatch)" not in positive


@pytest.mark.parametrize("narrow", [False, True])
def test_undefined_has_no_bar(narrow: bool) -> None:
    figure = fdr_bars([pair(None, None, None)], 0.05, "k", narrow=narrow)
    assert "undefined" in texts(figure)
    assert BLUE not in figure
    assert "hatch" not in figure


def test_matrix_is_antisymmetric_and_says_what_was_not_run() -> None:
    said = texts(fdr_matrix([pair(0.5, 0.2, 0.7)], ["a", "b", "c"], "k"))
    assert "+0.50" in said
    assert "−0.50" in said
    assert ".20, .70" in said
    assert "−.70, −.20" in said
    assert said.count("not run") == 4


def test_ladder_keeps_ties_on_one_level() -> None:
    found = HierarchyFinding({"a": 2, "b": 2, "c": 0}, (("a", "b"), ("c",)), 0.5)
    said = texts(ladder(found, "k"))
    assert said[:1] == ["1"]
    assert "tied" in said
    assert "=" in said
    assert "3" in said  # after a tie of two comes the third place
    assert "2" not in said


def test_grid_says_the_counts_of_every_cell(single: Any) -> None:
    found = read_findings(single.metrics).policies[0].pairs[0]
    said = texts(cell_grid(found, "k"))
    for cell in found.cells:
        expected = (
            f"{cell.counts.overfit_1} : {cell.counts.overfit_2}" if cell.counts.fdr is not None else "undef."
        )
        assert expected in said
    assert said.count("bound") == 6


def test_shares_that_were_not_measured_have_no_dot() -> None:
    figure = share_rows([("x", None), ("y", Estimate(0.25, 0.2, 0.3, 9, ""))], "k", "t", reference=0.5)
    assert "not measured" in texts(figure)
    assert len(list(ET.fromstring(figure).iter(f"{SVG}circle"))) == 1
    assert "25.0 %" in texts(figure)


def test_curve_falls_and_keeps_its_last_point() -> None:
    points = [(float(i), 1.0 / (i + 1)) for i in range(1000)]
    figure = loss_curve(points, "k", "t")
    path = re.search(r'd="M([^"]*)"', figure)
    assert path is not None
    heights = [float(p.split()[1]) for p in re.split("L", path[1])]
    assert len(heights) <= 242
    assert heights == sorted(heights)  # y grows downwards
    assert float(path[1].split("L")[-1].split()[0]) == pytest.approx(290, abs=0.1)


@pytest.mark.parametrize("points", [[], [(0.0, float("nan"))], [(5.0, 0.3)], [(0.0, 0.3), (9.0, 0.3)]])
def test_curve_survives_odd_points(points: list[tuple[float, float]]) -> None:
    ET.fromstring(loss_curve(points, "k", "t"))


def test_words_in_figures_are_escaped() -> None:
    canvas = Canvas("k", 10, 10, "<b>", "<i>")
    canvas.text(0, 0, "<script>")
    canvas.rect(0, 0, 1, 1, tip="<&>")
    root = ET.fromstring(canvas.markup())
    assert [t.text for t in root.iter(f"{SVG}text")] == ["<script>"]


def test_ink_is_readable_on_every_fill() -> None:
    assert ink_on("#FFFFFF") == DARK
    assert ink_on(BLUE) == "#FFFFFF"
    assert ink_on("#E69F00") == DARK
