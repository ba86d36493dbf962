"""The taxonomy of paraphrases holds together and reads the released names."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from heedful.spec.errors import UserError
from heedful.spec.paraphrase import (
    ACTION_AXIS,
    ACTION_TYPES,
    AXES,
    CELLS,
    OBJECT_TYPES,
    ORIGINAL,
    Cell,
    ParaphraseKey,
    cell,
    parse_key,
    released_cell,
    typed_cell,
)

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
SAMPLE = SHARED / "libero_para_sample.csv"
PUBLISHED = SHARED / "published" / "paraphrase_cells.csv"


def test_there_are_43_cells_and_the_original_is_none_of_them() -> None:
    assert len(CELLS) == len(set(CELLS)) == 4 * 11 - 1
    assert ORIGINAL not in CELLS
    assert ACTION_AXIS.keys() == set(ACTION_TYPES)
    assert set(ACTION_AXIS.values()) == set(AXES)


def test_categories_split_the_cells_as_published() -> None:
    assert Counter(c.category for c in CELLS) == {"obj": 3, "act": 10, "comp": 30}
    assert Counter(c.axis for c in CELLS) == {"none": 3, "lexical": 12, "structural": 8, "pragmatic": 20}


@pytest.mark.parametrize("one", CELLS, ids=lambda c: c.name)
def test_every_name_and_key_leads_back_to_its_cell(one: Cell) -> None:
    assert cell(one.name) == one
    assert typed_cell(one.object, one.action) == one
    assert released_cell(*one.released) == one
    key = ParaphraseKey(one, 6, 12)
    assert parse_key(key.text) == parse_key(f"{key.text}.bddl") == key


def test_low_alone_does_not_tell_an_object_type_from_an_action_type() -> None:
    assert released_cell("obj", "lexical", "addition_deletion") == Cell("addition_deletion", "none")
    assert released_cell("act", "lexical", "addition_deletion") == Cell("none", "addition_deletion")


def test_the_original_has_no_released_columns() -> None:
    with pytest.raises(ValueError, match="original"):
        _ = ORIGINAL.released


@pytest.mark.parametrize(
    ("read", "named"),
    [
        (lambda: cell("none/hints"), "Did you mean 'hint'"),
        (lambda: cell("hint"), "none/hint"),
        (lambda: typed_cell("addition_delition", "hint"), "addition_deletion"),
        (lambda: typed_cell("none", "hints"), "Did you mean 'hint'"),
        (lambda: released_cell("act", "lexical", "hint"), "'hint'"),
        (lambda: parse_key("hint_3"), "hint_3"),
        (lambda: parse_key("act_lexical_hint_eval1_ver2"), "mid 'lexical'"),
    ],
)
def test_a_name_that_is_none_is_refused_in_one_line(read, named) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError) as refused:
        read()
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.skipif(not SAMPLE.is_file(), reason="the sample of LIBERO-Para is not here")
def test_every_row_of_the_released_sample_parses_and_its_key_agrees() -> None:
    with SAMPLE.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 805
    for row in rows:
        columns = released_cell(row["high"], row["mid"], row["low"])
        key = parse_key(row["bddl_file"])
        assert key == ParaphraseKey(columns, int(row["eval"]), int(row["batch_idx"]))
        assert f"{key.text}.bddl" == row["bddl_file"]


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published table is not here")
def test_the_published_table_has_the_same_rows_and_columns() -> None:
    with PUBLISHED.open(encoding="utf-8", newline="") as lines:
        table = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert [row["action"] for row in table] == list(ACTION_TYPES)
    assert tuple(table[0])[1:] == OBJECT_TYPES
    counts = {c: int(row[c.object]) for row in table for c in CELLS if c.action == row["action"]}
    by_category = Counter[str]()
    for c, n in counts.items():
        by_category[c.category] += n
    assert by_category == {"act": 870, "obj": 259, "comp": 2963}
