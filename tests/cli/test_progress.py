from __future__ import annotations

import io

from heedful.cli.progress import PlainLines, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_a_line_a_tenth_not_a_line_a_unit() -> None:
    stream = io.StringIO()
    with progress(stream) as tell:
        for done in range(101):
            tell("run", done, 100, "note")
        tell("judge", 3, 3)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "run: 0/100  note"
    assert lines[-2:] == ["run: 100/100  note", "judge: 3/3"]
    assert len(lines) == 12


def test_a_stage_with_nothing_to_do_is_said_once() -> None:
    stream = io.StringIO()
    with progress(stream) as tell:
        tell("run", 0, 0)
        tell("run", 0, 0)
    assert stream.getvalue() == "run: 0/0\n"


def test_a_terminal_gets_a_bar_for_every_stage() -> None:
    stream = Terminal()
    with progress(stream) as tell:
        tell("run", 0, 4)
        tell("run", 4, 4, "done")
        tell("judge", 1, 2)
    said = stream.getvalue()
    assert "run" in said and "4/4" in said and "done" in said
    assert "judge" in said and "1/2" in said


def test_plain_lines_say_when_the_same_work_begins_again() -> None:
    stream = io.StringIO()
    lines = PlainLines(stream)
    for done in (0, 10, 0, 10):
        lines("train", done, 10)
    assert stream.getvalue().splitlines() == ["train: 0/10", "train: 10/10"] * 2
