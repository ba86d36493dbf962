"""A worker's side of the pipe, answered by hand."""

import multiprocessing
import pickle

import pytest

from heedful.rollouts.failures import RaisedElsewhere
from heedful.rollouts.shared.line import Line
from heedful.rollouts.shared.messages import Begin, Raised
from heedful.spec.errors import UserError
from heedful.spec.seams import Start

QUESTION = Begin("python:mine:make", Start("red"))


def line(*answers: object) -> Line:
    """Return a line on which the answers lie ready."""
    ours, theirs = multiprocessing.Pipe()
    for answer in answers:
        theirs.send_bytes(pickle.dumps(answer))
    made = Line(ours)
    made._theirs = theirs  # type: ignore[attr-defined]  # keeps the other end open
    return made


def raised(error: Exception) -> Raised:
    try:
        raise error
    except Exception as caught:
        return Raised.of(caught)


def test_an_answer_to_another_question_is_passed_over() -> None:
    asking = line((0, "stale"), (1, "RED"), (1, "twice"), (2, "BLUE"))
    assert [asking.ask(QUESTION), asking.ask(QUESTION)] == ["RED", "BLUE"]


def test_what_was_raised_there_is_raised_here_with_its_traceback() -> None:
    with pytest.raises(RaisedElsewhere, match="KeyError: 'red'") as caught:
        line((1, raised(KeyError("red")))).ask(QUESTION)
    assert "test_line.py" in caught.value.__notes__[0]
    with pytest.raises(UserError, match="no checkpoint there"):
        line((1, raised(UserError("no checkpoint there")))).ask(QUESTION)


def test_a_policy_that_cannot_be_made_there_is_the_user_s_to_mend() -> None:
    with pytest.raises(UserError, match="Policy 'python:mine:make' cannot be made: ValueError: too wide"):
        line((1, raised(ValueError("too wide")))).load("python:mine:make")
