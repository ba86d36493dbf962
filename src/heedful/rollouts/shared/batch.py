"""Which of the questions that wait are answered together, and how one bad session spoils no other."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any

from heedful.rollouts.shared.messages import Raised
from heedful.spec.contract import Observation
from heedful.spec.seams import BatchedPolicy

Answer = Any
"""What goes to one worker: actions [T, A] or ``Raised``."""


def why_not_shared(policy: Any, ref: str) -> str:
    """Return why workers cannot share ``policy``, which ``ref`` names; empty when they can."""
    if policy.contract.privileged_state:
        return "it reads the world's state, which only the worker has"
    if "://" in ref:
        return "a server holds it already, and every worker asks that"
    lacking = [name for name in ("begin", "act_many") if not hasattr(policy, name)]
    if lacking:
        return (
            f"{type(policy).__name__} lacks {' and '.join(lacking)}, with which it would keep each episode "
            "apart (heedful.spec.seams.BatchedPolicy)"
        )
    return ""


def answers(
    policy: BatchedPolicy,
    sessions: Sequence[Any],
    observations: Sequence[Observation],
    call: Callable[[Sequence[int], Callable[[], Answer]], Answer],
) -> list[Answer]:
    """Return the answer for every session: from one call of the policy, or else one by one.

    When the call for all raises, each session is asked for by itself, so that only those at fault
    get an exception for an answer.

    Args:
        policy: Its ``act_many`` is called.
        sessions: N of them.
        observations: N.
        call: Makes a call for the sessions with these indices; it may limit it and say so.
    """
    try:
        found: list[Answer] = call(range(len(sessions)), lambda: _acted(policy, sessions, observations))
        return found
    except BaseException as error:
        if len(sessions) == 1:
            return [Raised.of(error, traceback.format_exc())]
    found = []
    for i, (session, observation) in enumerate(zip(sessions, observations, strict=True)):

        def alone(_: Sequence[int], make: Callable[[], Answer], i: int = i) -> Answer:
            return call([i], make)

        found += answers(policy, [session], [observation], alone)
    return found


def _acted(
    policy: BatchedPolicy, sessions: Sequence[Any], observations: Sequence[Observation]
) -> list[Answer]:
    chunks = list(policy.act_many(sessions, observations))
    if len(chunks) != len(sessions):
        raise TypeError(f"act_many returned {len(chunks)} chunks of actions for {len(sessions)} sessions")
    return chunks
