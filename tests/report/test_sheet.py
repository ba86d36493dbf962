import re
from pathlib import Path

import pytest

from heedful.planning.schedule import make_plan
from heedful.report.sheet import grid_panels, is_sheet, schedule_stops, sheet
from heedful.spec.plan import Plan
from heedful.spec.vocabulary import load_vocabulary

TABLETOP = load_vocabulary()


def made(*factors: str, strategy: str = "v", demos: int = 60, changes: int | None = None) -> Plan:
    return make_plan("tabletop", TABLETOP, factors or ("color", "object"), strategy, demos, changes)


def test_every_demonstration_has_one_box_in_schedule_order() -> None:
    plan = made(changes=18)
    page = sheet(plan, "plan.csv")
    boxes = [int(n) for n in re.findall(r'data-n="(\d+)"', page)]
    assert sorted(boxes) == list(range(1, 61))
    stops = schedule_stops(plan)
    assert [stop.number for stop in stops] == list(range(1, len(plan.visits) + 1))
    assert stops[-1].done == 60
    for stop in stops:
        for words in stop.words:
            assert all(plan.rows[n - 1].instruction.text == words.text for n in words.demonstrations)
            assert f"“{words.text}”" in page


def test_what_to_change_next_is_what_differs_from_the_stop_before() -> None:
    plan = made("color", "object", "spatial", strategy="v-full")
    stops = schedule_stops(plan)
    assert stops[0].changed == ()
    assert sum(len(stop.changed) for stop in stops) == plan.changes
    for before, after in zip(stops, stops[1:], strict=False):
        old = {setting.factor: setting.value for setting in before.settings}
        assert all(setting.before == old[setting.factor] for setting in after.changed)
        assert all(setting.value == old[setting.factor] for setting in after.kept)
    one = stops[1].changed[0]
    assert f'{one.factor}: <span class="old">{one.before} →</span> <b>{one.value}</b>' in sheet(plan, "p")


def test_the_grid_marks_collected_cells_with_their_counts() -> None:
    plan = made(changes=18)
    (panel,) = grid_panels(plan, schedule_stops(plan))
    counts = plan.demonstrations()
    drawn = {
        (row, column): cell.demonstrations
        for row, cells in panel.rows
        for column, cell in zip(panel.across.values, cells, strict=True)
    }
    assert {cell: count for cell, count in drawn.items() if count} == counts
    added = [(row, c) for row, cells in panel.rows for c, cell in enumerate(cells) if cell.added]
    assert len(added) == len(plan.added) > 0
    page = sheet(plan, "plan.csv")
    assert page.count('class="on') == len(counts)
    assert page.count('class="on added"') == len(added)


def test_a_cell_that_is_visited_again_names_all_its_stops_and_is_not_an_added_one() -> None:
    plan = made(strategy="complete", changes=40, demos=200)
    (panel,) = grid_panels(plan, schedule_stops(plan))
    cells = [cell for _, row in panel.rows for cell in row]
    assert max(len(cell.stops) for cell in cells) == 2
    assert not any(cell.added for cell in cells)


def test_three_factors_are_drawn_once_for_each_value_of_the_smallest_and_more_are_listed() -> None:
    plan = made("color", "spatial", "object")
    panels = grid_panels(plan, schedule_stops(plan))
    assert [panel.title for panel in panels] == [
        f"spatial: {value}" for value in TABLETOP.grammar.factor("spatial").values
    ]
    assert sum(cell.demonstrations for p in panels for _, row in p.rows for cell in row) == 60
    assert (panels[0].down.name, panels[0].across.name) == ("color", "object")
    many = made("color", "object", "spatial", "verb", "size")
    assert grid_panels(many, schedule_stops(many)) == ()
    assert "<table" not in sheet(many, "plan.csv")
    one = made("color", strategy="complete")
    assert grid_panels(one, schedule_stops(one)) == ()


def test_the_page_escapes_what_a_user_wrote_and_loads_nothing() -> None:
    page = sheet(made(), "<b>my plan</b>.csv")
    assert "<b>my plan" not in page
    assert not re.search(r'(?:src|href)="', page)
    assert "url(" not in page


def test_a_sheet_knows_itself(tmp_path: Path) -> None:
    path = tmp_path / "sheet.html"
    assert not is_sheet(path)
    path.write_text("<html></html>")
    assert not is_sheet(path)
    path.write_text(sheet(made(), "plan.csv"), encoding="utf-8")
    assert is_sheet(path)


@pytest.mark.parametrize(
    ("demos", "says"),
    [(60, "<b>4</b> demonstrations"), (61, "<b>4\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}5</b> demon")],
)
def test_the_head_counts(demos: int, says: str) -> None:
    page = sheet(made(demos=demos), "plan.csv")
    assert says in page
    assert "<b>15</b> of 36 cells" in page
    assert "<b>14</b> factor changes" in page
