"""One answer of a policy, and what looks wrong in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heedful.policies.conventions.advice import Advice, action_names, advice
from heedful.policies.lerobot.policy import LeRobotPolicy
from heedful.policies.remote.announcement import conventions_for
from heedful.policies.remote.policy import RemotePolicy
from heedful.spec.contract import Observation
from heedful.spec.seams import Policy
from heedful.workflows.checking.found import Dimension, PolicyCheck


def raw_actions(policy: Policy, seen: Observation) -> object:
    """Return an answer as it came, before it is put into the world's terms."""
    if isinstance(policy, RemotePolicy):
        return policy.ask(seen).actions
    return policy.ask(seen) if isinstance(policy, LeRobotPolicy) else policy.act(seen)


def with_answer(
    check: PolicyCheck, policy: Policy, actions: object, seen: Observation, certain: bool
) -> PolicyCheck:
    """Return ``check`` with what is to be said of an answer.

    Args:
        check: What was found before.
        policy: Who answered.
        actions: As ``raw_actions``.
        seen: What it saw.
        certain: The policy's units and signs are known, so nothing in its reference can be wrong.
    """
    from heedful.rollouts.actions import BadActions, checked_actions

    told = isinstance(policy, RemotePolicy | LeRobotPolicy)
    if not told:
        try:
            actions = checked_actions(actions, policy.contract)
        except BadActions as error:
            return replace(check, error=str(error))
        except (TypeError, ValueError) as error:
            return replace(check, error=f"the policy returned no numbers: {error}")
        if not len(actions):
            done = "The policy returned no action, which means that it is done, at its first look."
            return replace(check, advice=(Advice(done, ""),))
    array: NDArray[np.float64] = np.asarray(actions)
    conventions = (
        policy.conventions
        if isinstance(policy, RemotePolicy | LeRobotPolicy)
        else conventions_for(policy.contract, "openpi")
    )
    names = action_names(conventions)
    if array.ndim != 2 or array.shape[1] != len(names):
        names = tuple(f"number {i}" for i in range(array.shape[-1]))
    ranges = tuple(
        Dimension(name, float(column.min()), float(column.max()))
        for name, column in zip(names, array.T, strict=True)
        if len(array)
    )
    found = advice(conventions, array, seen)
    if not told or certain:  # there is no reference to write an option into, or nothing wrong in it
        found = [replace(one, option="") for one in found]
    elif isinstance(policy, RemotePolicy):
        found = [_unless_said(one, policy, check) for one in found]
    return replace(check, chunk=len(array), answer=ranges, advice=tuple(found))


def _unless_said(one: Advice, policy: RemotePolicy, check: PolicyCheck) -> Advice:
    """Return ``one`` without an option that contradicts what the server says of itself."""
    said = {line.mend.partition("=")[0] for line in check.lines if line.said and line.outcome == "ok"}
    if policy.greeting.announced is not None or one.option.partition("=")[0] in said:
        return replace(one, option="")
    return one
