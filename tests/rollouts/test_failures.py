import pytest

from heedful.rollouts.failures import LINE, RaisedElsewhere, one_line, plain, safe_text, safe_traceback


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


class Words(str):
    """Text of somebody else's class."""

    def __str__(self) -> str:
        raise ValueError("no text")


def test_what_is_plain_text_stays_and_what_is_not_becomes_it() -> None:
    assert plain("café ☕") == "café ☕"
    assert plain("caf\udce9").encode() == b"caf\\udce9"
    assert type(plain(Words("red"))) is str and plain(Words("red")) == "red"
    assert plain("abcdef", 6) == "abcdef" and plain("abcdefg", 6) == "abc..."


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (RuntimeError("two\n lines"), "RuntimeError: two lines"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (Mute(), "Mute: its message cannot be read (ValueError)"),
        (RuntimeError("caf\udce9"), "RuntimeError: caf\\udce9"),
        (RuntimeError(Words("x")), "RuntimeError: its message cannot be read (ValueError)"),
        (RaisedElsewhere("Mine", "the true reason"), "Mine: the true reason"),
        (RaisedElsewhere("KeyboardInterrupt", ""), "KeyboardInterrupt"),
    ],
)
def test_every_exception_has_one_line(error: BaseException, line: str) -> None:
    assert one_line(error) == line
    assert "\n" not in one_line(error) and one_line(error).encode()


def test_the_class_is_left_out_only_where_there_is_a_message() -> None:
    assert one_line(ValueError("too wide"), named=False) == "too wide"
    assert one_line(ValueError(), named=False) == "ValueError"


def test_however_much_an_exception_says_its_texts_are_short() -> None:
    error = type("X" * 5000, (Exception,), {})("y" * 10**6)
    assert len(one_line(error)) == LINE and one_line(error).endswith("...")
    assert len(safe_text(error)) <= 10_000 and len(safe_traceback(error)) <= 100_000


def test_a_traceback_names_the_place_and_one_that_cannot_be_made_is_a_line() -> None:
    try:
        raise Mute
    except Mute as error:
        assert "test_failures.py" in safe_traceback(error)

    class Loop(Exception):
        @property  # type: ignore[override]  # the fault under test
        def __cause__(self) -> BaseException:
            raise KeyError("no cause")

    assert "Loop" in safe_traceback(Loop("x"))
