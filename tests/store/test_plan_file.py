import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.planning.schedule import make_plan
from heedful.planning.strategies import STRATEGIES
from heedful.spec.errors import UserError
from heedful.spec.grammar_file import load_grammar
from heedful.spec.plan import Plan
from heedful.spec.vocabulary import load_vocabulary
from heedful.store.plan_file import change_text, holds, plan_csv, read_plan, write_plan

TABLETOP = load_vocabulary()


def made(strategy: str = "v", changes: int | None = 18, demos: int = 60) -> Plan:
    return make_plan("tabletop", TABLETOP, ("color", "object"), strategy, demos, changes, seed=3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "plan.csv"
    write_plan(made(), path)
    return path


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.sampled_from(["color", "object", "spatial", "verb"]), min_size=1, max_size=3, unique=True),
    st.sampled_from(STRATEGIES),
    st.integers(0, 12),
)
def test_a_plan_comes_back_as_it_was_and_its_cost_is_in_the_rows(
    tmp_path_factory: pytest.TempPathFactory, factors: list[str], strategy: str, extra: int
) -> None:
    path = tmp_path_factory.mktemp("plans") / "plan.csv"
    least = 0 if strategy == "random" else make_plan("tabletop", TABLETOP, factors, strategy, 300).changes
    plan = make_plan("tabletop", TABLETOP, factors, strategy, 400, least + extra, seed=extra)
    write_plan(plan, path)
    assert read_plan(path) == plan
    assert holds(plan, path)
    rows = list(csv.DictReader(path.open()))
    cost = sum(sum(one[f] != other[f] for f in factors) for one, other in pairwise(rows))
    assert cost == plan.changes == int(rows[-1]["changes"]) == least + extra
    assert [int(row["demonstration"]) for row in rows] == list(range(1, 401))
    changed = [row["change"] for row in rows if row["change"]]
    assert changed[0] == "start"
    assert sum(text.count("->") for text in changed) == cost


def test_the_csv_alone_is_a_plan(path: Path) -> None:
    path.with_suffix(".json").unlink()
    plan = read_plan(path)
    assert plan.rows == made().rows
    assert (plan.strategy, plan.order, plan.added, plan.grammar) == ("", (), (), "tabletop")
    assert plan.grid.base == plan.rows[0].configuration


def test_a_plan_of_another_grammar_needs_it_named_when_the_json_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "bun.csv"
    plan = make_plan("bun", load_grammar("bun").grammar, ("color", "spatial"), "v", 40)
    write_plan(plan, path)
    assert read_plan(path) == plan
    path.with_suffix(".json").unlink()
    assert read_plan(path, "bun").rows == plan.rows
    with pytest.raises(UserError, match="bun.csv"):
        read_plan(path)


def test_a_grammar_beside_the_plan_is_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grammar = tmp_path / "mine.yaml"
    grammar.write_text("name: m\ntemplate: 'go {way}'\nfactors:\n  - {name: way, values: [up, down]}\n")
    plan = make_plan("mine.yaml", load_grammar(grammar).grammar, ("way",), "complete", 4, order=("way",))
    write_plan(plan, tmp_path / "plan.csv")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert read_plan(tmp_path / "plan.csv").rows == plan.rows


def edited(path: Path, edit: Callable[[list[list[str]]], object]) -> Plan:
    """Return the plan after ``edit`` changed the table in place."""
    table = list(csv.reader(path.open()))
    edit(table)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    path.write_text(text.getvalue())
    return read_plan(path)


def test_rows_may_go_come_and_change_places(path: Path) -> None:
    before = made()
    plan = edited(path, lambda table: table.pop())
    assert plan.rows == before.rows[:-1]
    assert plan.strategy == ""  # no longer what the strategy made
    assert (plan.grid.base, plan.grammar) == (before.grid.base, before.grammar)
    plan = edited(path, lambda table: table.append(table[1]))
    assert plan.rows[-1].configuration == before.rows[0].configuration
    assert plan.rows[-1].repeat > before.rows[0].repeat


def test_a_reversed_plan_costs_the_same(path: Path) -> None:
    plan = edited(path, lambda table: table.__setitem__(slice(1, None), table[:0:-1]))
    assert plan.visits == made().visits[::-1]
    assert plan.changes == 18


def test_columns_may_change_places_and_computed_ones_may_go(path: Path) -> None:
    def turned(table: list[list[str]]) -> None:
        table[:] = [row[1:-2][::-1] for row in table]

    assert edited(path, turned) == made()


def test_a_spreadsheet_may_have_saved_it(path: Path) -> None:
    table = list(csv.reader(path.open()))
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\r\n").writerows([*table, [""] * 7])
    path.write_bytes(b"\xef\xbb\xbf" + text.getvalue().encode())
    assert read_plan(path) == made()


@pytest.mark.parametrize(
    ("row", "column", "value", "says"),
    [
        (4, 1, "purple", r"row 5: Unknown value of factor color 'purple'\. Valid: black"),
        (1, 3, "grab", r"row 2: Unknown value of factor verb 'grab'"),
        (7, 1, "green", r"row 8: the instruction is .* worded 'grasp the green"),
        (2, 4, "lift it", r"row 3: the instruction is 'lift it', but these values are worded"),
        (0, 1, "colour", r"row 1:.*'color' is missing"),
        (0, 4, "words", r"row 1: column 'instruction' is missing"),
        (0, 3, "carrier_wheel", r"Unknown column of a plan.*'carrier_wheel'"),
        (0, 2, "color", r"column 'color' is there more than once"),
        (0, 3, "carrier_color", r"color is varied and carried"),
    ],
)
def test_nonsense_is_one_line_that_names_the_row(
    path: Path, row: int, column: int, value: str, says: str
) -> None:
    with pytest.raises(UserError, match=says) as error:
        edited(path, lambda table: table[row].__setitem__(column, value))
    assert "plan.csv" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("\n ,, \n", "is empty"),
        ("color,object,instruction\n", "has no demonstrations"),
        ("instruction\nlift it\n", "column 'color' is missing"),
        ("color,object,carrier_verb,instruction\nred,cube\n", "row 2: it has 2 fields, the heading 4"),
        ("color,object,instruction\nred,cube,the red cube\n", "row 2: .* verb is missing"),
    ],
)
def test_files_that_are_no_plan(path: Path, text: str, says: str) -> None:
    path.write_text(text)
    with pytest.raises(UserError, match=says):
        read_plan(path)


def test_files_that_cannot_be_read(path: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no plan at .*heedful plan"):
        read_plan(tmp_path / "none.csv")
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(UserError, match="cannot be read"):
        read_plan(path)
    with pytest.raises(UserError, match=r"A plan is a CSV file; call it .*plan\.csv"):
        write_plan(made(), tmp_path / "plan.json")


@pytest.mark.parametrize(
    ("key", "value"), [("changes", 4), ("cells", 3), ("base", ["red"]), ("added", 7), ("order", None)]
)
def test_a_json_that_says_something_else_than_the_rows_is_refused(
    path: Path, key: str, value: object
) -> None:
    beside = path.with_suffix(".json")
    beside.write_text(json.dumps({**json.loads(beside.read_text()), key: value}))
    with pytest.raises(UserError, match=r"plan\.json does not fit the plan .*delete it, plan\.csv alone"):
        read_plan(path)


def test_a_damaged_json_is_named(path: Path) -> None:
    path.with_suffix(".json").write_text("{")
    with pytest.raises(UserError, match=r"plan\.json is damaged"):
        read_plan(path)


def test_a_factor_called_like_a_column_is_refused(tmp_path: Path) -> None:
    grammar = tmp_path / "mine.yaml"
    grammar.write_text("name: m\ntemplate: '{change}'\nfactors:\n  - {name: change, values: [up, down]}\n")
    plan = make_plan(str(grammar), load_grammar(grammar).grammar, ("change",), "l", 2, order=("change",))
    with pytest.raises(UserError, match="cannot be called 'change'"):
        write_plan(plan, tmp_path / "plan.csv")
    assert not (tmp_path / "plan.json").exists()


def test_another_plan_is_not_held(path: Path) -> None:
    assert not holds(replace(made(), seed=4), path)
    assert not holds(made(demos=61), path)
    path.with_suffix(".json").unlink()
    assert not holds(made(), path)


def test_changes_are_worded() -> None:
    names = ("color", "object")
    assert change_text(names, None, ("red", "cube")) == "start"
    assert change_text(names, ("red", "cube"), ("blue", "cup")) == "color: red -> blue; object: cube -> cup"
    assert change_text(names, ("red", "cube"), ("red", "cube")) == ""
    head = plan_csv(made()).splitlines()[0]
    assert head == "demonstration,color,object,carrier_verb,instruction,change,changes"


@pytest.mark.parametrize(
    "record",
    ['{"factors": null}', '{"factors": 5}', '{"factors": [5, [1]]}', '{"seed": Infinity}', "[" * 100_000],
)
def test_a_record_of_nonsense_is_one_line(record: str, tmp_path: Path) -> None:

    path = tmp_path / "p.csv"
    write_plan(make_plan("tabletop", load_vocabulary(), ["color", "object"], "v", 24), path)
    path.with_suffix(".json").write_text(record)
    with pytest.raises(UserError, match=r"p\.json"):
        read_plan(path)
