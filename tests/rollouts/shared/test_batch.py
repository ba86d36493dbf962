from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from shared_doubles import Session, Sharable

from heedful.rollouts.loading import load
from heedful.rollouts.shared.batch import answers, why_not_shared
from heedful.rollouts.shared.messages import Raised
from heedful.spec.contract import Observation
from heedful.spec.seams import Start


def asked(policy: Sharable, words: Sequence[str]) -> tuple[list[Any], list[list[int]], list[Session]]:
    """Return answers at the second look, the calls that were made, and the sessions."""
    image = {"agent": np.zeros((16, 24, 3), np.uint8), "wrist": np.zeros((8, 8, 3), np.uint8)}
    observation = Observation(image, np.zeros((1, 8)), np.zeros((1, 8)), 4)
    sessions = [policy.begin(Start(text, seed=i))[0] for i, text in enumerate(words)]
    for session in sessions:
        session.looks = 1
    calls: list[list[int]] = []

    def call(indices: Sequence[int], make: Callable[[], Any]) -> Any:
        calls.append(list(indices))
        return make()

    return answers(policy, sessions, [observation] * len(words), call), calls, sessions


def test_what_is_well_takes_one_call() -> None:
    found, calls, _ = asked(Sharable(), ["red", "blue", "red"])
    assert calls == [[0, 1, 2]] and [chunk.shape for chunk in found] == [(4, 7)] * 3


def test_one_bad_session_gets_the_exception_and_the_others_their_actions() -> None:
    found, calls, sessions = asked(Sharable("raise"), ["red", "blue", "red"])
    assert calls == [[0, 1, 2], [0], [1], [2]]
    assert [isinstance(answer, Raised) for answer in found] == [False, True, False]
    assert str(found[1].again()) == "ValueError: blue is too much"
    assert [session.looks for session in sessions] == [2, 1, 2]


def test_a_single_session_is_not_asked_twice() -> None:
    found, calls, _ = asked(Sharable("exit"), ["blue"])
    assert calls == [[0]] and str(found[0].again()) == "SystemExit: 3"


def test_why_a_policy_is_not_shared() -> None:
    ref = "python:shared_doubles"
    assert why_not_shared(load(f"{ref}:Sharable"), ref) == ""
    assert "lacks begin and act_many" in why_not_shared(load(f"{ref}:Unsharable"), ref)
    assert "only the worker has" in why_not_shared(load(f"{ref}:Sharable:privileged"), ref)
    assert "a server holds it already" in why_not_shared(load(f"{ref}:Unsharable"), "openpi://127.0.0.1:8000")
