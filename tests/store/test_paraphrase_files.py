from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heedful.spec.errors import UserError
from heedful.store.paraphrase_files import (
    Table,
    check_table,
    outcomes_of,
    pair_columns,
    pairs_of,
    read_table,
    with_columns,
    write_table,
)

PUT = "put the bowl"
SET = "set the bowl"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "pairs.csv"


def _read(file: Path, content: str | bytes) -> Table:
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(file)


@pytest.mark.parametrize(
    "content",
    [
        "original,paraphrase\nput the bowl,set the bowl\n",
        "paraphrase,original\nset the bowl,put the bowl",
        "\ufefforiginal,paraphrase\r\nput the bowl,set the bowl\r\n",
        ' original , paraphrase\n\n"put the bowl","set the bowl"\n\n',
        "high,new_instruction,original_instruction\nact,set the bowl,put the bowl\n",
        # Where a file has both, ours are taken.
        "original,paraphrase,original_instruction,new_instruction\nput the bowl,set the bowl,x,y\n",
    ],
)
def test_pairs_are_read(content: str, file: Path) -> None:
    assert pairs_of(_read(file, content)) == [(PUT, SET)]


def test_quotes_commas_line_breaks_and_nul_are_kept(file: Path) -> None:
    table = _read(file, 'original,paraphrase\n"put the ""big"", red bowl","a\nb\x00"\n,\n')
    assert pairs_of(table) == [('put the "big", red bowl', "a\nb\x00"), ("", "")]
    assert table.lines == (3, 4)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        (
            "put the bowl,set the bowl\n",
            "no column 'original'; its columns are 'put the bowl', 'set the bowl'",
        ),
        ("original,paraprhase\na,b\n", "no column 'paraphrase'.* Is 'paraprhase' meant"),
        ("orignal,paraphrase\na,b\n", "no column 'original'.* Is 'orignal' meant"),
        ("original;paraphrase\na;b\n", "Separate the cells with commas"),
        ("original,new_instruction\na,b\n", "names? the columns? .*original_instruction and new_instruction"),
        ("original,paraphrase\na,b\nc\n", "line 3 has 1 cells, but the header has 2"),
        ("original,paraphrase\na,b,c\n", "line 2 has 3 cells, but the header has 2"),
        ('original,paraphrase\n"a,b\n', "line 2 is no CSV"),
        ('original,paraphrase\n"a"b,c\n', "line 2 is no CSV"),
        ("original,paraphrase,paraphrase\na,b,c\n", "has 2 columns called 'paraphrase'"),
        (b"original,paraphrase\na,caf\xe9\n", "not a UTF-8 text file .see line 2"),
        ("original,paraphrase\na,b\n".encode("utf-16"), "looks like UTF-16"),
    ],
)
def test_a_file_that_will_not_do_is_one_clear_line(content: str | bytes, said: str, file: Path) -> None:
    with pytest.raises(UserError, match=said) as error:
        pairs_of(_read(file, content))
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere\.csv does not exist"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(UserError, match="is a folder"):
        read_table(tmp_path)


def test_a_header_without_rows_is_an_empty_table(file: Path) -> None:
    assert pairs_of(_read(file, "original,paraphrase\n")) == []
    assert pair_columns(read_table(file)) == ("original", "paraphrase")


def test_outcomes(file: Path) -> None:
    table = _read(file, "success\n1\n0\nTrue\n false \n1.0\n0.0\n")
    assert outcomes_of(table) == [True, False, True, False, True, False]
    assert outcomes_of(_read(file, "key,success\na,\nb,1\n")) == [None, True]
    with pytest.raises(UserError, match="line 3: success is 'yes'; it must be 1, 0, true, false or empty"):
        outcomes_of(_read(file, "success\n1\nyes\n"))
    with pytest.raises(UserError, match="no column 'success'; its columns are 'sucess'. Is 'sucess' meant"):
        outcomes_of(_read(file, "sucess\n1\n"))


def test_new_columns_go_to_the_end_and_known_ones_stay_in_their_place(file: Path) -> None:
    table = _read(file, "b,measure,a\n1,old,2\n3,old,4\n")
    found = with_columns(table, [("new", ["x", "y"]), ("measure", ["5", "6"])])
    assert found.columns == ("b", "measure", "a", "new")
    assert found.rows == (("1", "5", "2", "x"), ("3", "6", "4", "y"))
    assert table.rows == (("1", "old", "2"), ("3", "old", "4"))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(rows=st.lists(st.tuples(TEXTS, TEXTS), max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_again(rows: list[tuple[str, str]], tmp_path: Path) -> None:
    table = Table(tmp_path, ("original", "paraphrase"), tuple(rows), tuple(range(len(rows))))
    write_table(table, tmp_path / "written.csv")
    assert read_table(tmp_path / "written.csv").rows == tuple(rows)


def test_writing_to_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a folder; name the CSV file to write"):
        write_table(Table(tmp_path, ("a",), (), ()), tmp_path)


def test_only_a_table_of_the_same_columns_is_replaced(tmp_path: Path) -> None:
    path, columns = tmp_path / "out.csv", ("original", "paraphrase", "distance")
    check_table(path, columns, "score table")
    for ours in ("", "\n", "original,paraphrase,distance\n", "original,paraphrase,distance\na,b,0.1\n"):
        path.write_text(ours)
        check_table(path, columns, "score table")
    for other in (b"original,paraphrase\na,b\n", b"notes\n", b"\xff\xfe\x00", b'"open'):
        path.write_bytes(other)
        with pytest.raises(UserError, match="out.csv is there and is no score table; name another file"):
            check_table(path, columns, "score table")
        check_table(path, columns, "score table", force=True)
        assert path.read_bytes() == other
    with pytest.raises(UserError, match="is a folder"):
        check_table(tmp_path, columns, "score table", force=True)
