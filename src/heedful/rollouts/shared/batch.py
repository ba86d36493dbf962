"""Which of the questions that wait are answered together, and how one bad session spoils no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from heedful.rollouts.loading import LoadedPolicy
from heedful.rollouts.shared.messages import Answer, Raised
from heedful.spec.contract import Observation
from heedful.spec.seams import BatchedPolicy


def why_not_shared(loaded: LoadedPolicy, ref: str) -> str:
    """Return why workers cannot share the policy, which ``ref`` names; empty when they can."""
    if loaded.contract.privileged_state:
        return "it reads the world's state, which only the worker has"
    if "://" in ref:
        return "a server holds it already, and every worker asks that"
    lacking = [name for name in ("begin", "act_many") if not hasattr(loaded.policy, name)]
    if lacking:
        return (
            f"{type(loaded.policy).__name__} lacks {' and '.join(lacking)}, with which it would keep each "
            "episode apart (heedful.spec.seams.BatchedPolicy)"
        )
    return ""


def answers(
    policy: BatchedPolicy,
    sessions: Sequence[Any],
    observations: Sequence[Observation],
    call: Callable[[Sequence[int], Callable[[], Answer]], Answer],
) -> list[Answer]:
    """Return the answer for every session: its actions as float64, from one call or else one by one.

    A chunk that is no numbers is the fault of its session alone. When the call for all raises, each
    session is asked for by itself, so that only those at fault get an exception for an answer.

    Args:
        policy: Its ``act_many`` is called.
        sessions: N of them.
        observations: N.
        call: Makes a call for the sessions with these indices; it may limit it and say so.
    """
    if len(sessions) > 1:
        try:
            found: list[Answer] = call(range(len(sessions)), lambda: _acted(policy, sessions, observations))
            return found
        except BaseException:
            pass  # whoever is at fault gets it below, as the only one
    return [
        call([i], partial(_acted_alone, policy, session, observation))
        for i, (session, observation) in enumerate(zip(sessions, observations, strict=True))
    ]


def _acted_alone(policy: BatchedPolicy, session: Any, observation: Observation) -> Answer:
    try:
        return _acted(policy, [session], [observation])[0]
    except BaseException as error:
        return Raised.of(error)


def _acted(
    policy: BatchedPolicy, sessions: Sequence[Any], observations: Sequence[Observation]
) -> list[Answer]:
    chunks = list(policy.act_many(sessions, observations))
    if len(chunks) != len(sessions):
        raise TypeError(f"act_many returned {len(chunks)} chunks of actions for {len(sessions)} sessions")
    return [_numbers(chunk) for chunk in chunks]


def _numbers(chunk: object) -> Answer:
    try:
        return np.array(chunk, dtype=np.float64)
    except BaseException as error:
        return Raised.of(error)
