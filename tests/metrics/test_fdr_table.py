from pathlib import Path

import pytest

from heedful.metrics.fdr_table import parse_fdr_table, read_fdr_table
from heedful.spec.errors import UserError

HEADER = "factor_1,factor_2,mine\n"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (HEADER + "verb,color,-7.4\n", -0.074),
        (HEADER + "verb,color,-0.074\n", -0.074),
        (HEADER + "verb,color,-7.4%\n", -0.074),
        (HEADER + "verb,color,0.5 %\n", 0.005),
        (HEADER + "# a note\n\n verb , color , \N{MINUS SIGN}7.4 \n", -0.074),
        ("mine,factor_2,factor_1\n-7.4,color,verb\n", -0.074),
        (HEADER + "verb,color,1\n", 1.0),
        (HEADER + "verb,color,100\n", 1.0),
    ],
)
def test_percent_and_fractions_are_told_apart(text: str, value: float) -> None:
    assert parse_fdr_table(text).of("mine") == (value,)


def test_one_value_in_percent_makes_the_table_percent() -> None:
    table = parse_fdr_table(HEADER + "verb,color,0.5\ncolor,size,20\n")
    assert table.of("mine") == (0.005, 0.2)


def test_the_unit_can_be_forced() -> None:
    text = HEADER + "verb,color,0.5\n"
    assert parse_fdr_table(text, unit="percent").of("mine") == (0.005,)
    with pytest.raises(UserError, match="line 2: 20 is out of range"):
        parse_fdr_table(HEADER + "verb,color,20\n", unit="fraction")


def test_missing_cells_are_none() -> None:
    assert parse_fdr_table(HEADER + "verb,color,\ncolor,size,nan\n").of("mine") == (None, None)


def test_factors_come_in_the_published_order_then_as_they_appear() -> None:
    table = parse_fdr_table(HEADER + "texture,verb,0.1\nverb,color,0.1\nmass,color,0.1\n")
    assert table.factors == ("color", "verb", "texture", "mass")


def test_both_orders_of_a_pair_may_agree_and_fill_gaps() -> None:
    table = parse_fdr_table("factor_1,factor_2,a,b\nverb,color,20,\ncolor,verb,-20,-30\n")
    assert table.pairs == (("verb", "color"),)
    assert (table.of("a"), table.of("b")) == ((0.2,), (0.3,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("# only a note\n", "empty"),
        (HEADER, "no rows"),
        ("factor_1,mine\nverb,1\n", "'factor_2' is missing"),
        ("factor_1,factor_2\nverb,color\n", "no policy column"),
        ("factor_1,factor_2,a,a\nverb,color,1,1\n", "'a' appears more than once"),
        ("factor_1,factor_2,a,\nverb,color,1,1\n", "column 4 has no name"),
        (HEADER + "verb,color\n", "line 2: 2 cells"),
        (HEADER + "verb,color,1,2\n", "line 2: 4 cells"),
        (HEADER + "# note\nverb,color,much\n", "line 3, column 'mine': 'much' is not a number"),
        (HEADER + "verb,color,inf\n", "line 2, column 'mine': 'inf' is not a finite"),
        (HEADER + "verb,color,1_0\n", "not a number"),
        (HEADER + "verb,color,101\n", "line 2: 101 is out of range"),
        (HEADER + "verb,verb,1\n", "line 2: 'verb' is paired with itself"),
        (HEADER + ",color,1\n", "line 2: a factor's name is empty"),
        (HEADER + "verb,color,1\nverb,color,1\n", "line 3: the pair verb,color appears a second time"),
        (HEADER + "verb,color,.1\ncolor,verb,-.1\ncolor,verb,-.1\n", "line 4: the pair color,verb"),
        (HEADER + "verb,color,0.2\ncolor,verb,0.2\n", "line 3: color,verb is 0.2, but verb,color is 0.2"),
        (HEADER + "verb,color,5%\ncolor,size,0.2\n", "some values carry a %"),
    ],
)
def test_a_bad_table_gets_one_line_that_says_where(text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        parse_fdr_table(text, "my.csv")
    assert message in str(error.value)
    assert str(error.value).startswith("my.csv")
    assert "\n" not in str(error.value)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        read_fdr_table(tmp_path / "none.csv")
    with pytest.raises(UserError, match="cannot be read"):
        read_fdr_table(tmp_path)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not a UTF-8"):
        read_fdr_table(tmp_path / "binary.csv")


def test_an_unknown_policy_gets_the_nearest_name() -> None:
    with pytest.raises(UserError, match="Did you mean 'pi05'"):
        parse_fdr_table("factor_1,factor_2,pi05\nverb,color,1\n").of("pi5")


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "excel.csv"
    path.write_bytes(b"\xef\xbb\xbffactor_1,factor_2,mine\r\nverb,color,20\r\n")
    assert read_fdr_table(path).of("mine") == (0.2,)
