"""One episode: reset, look, act, record; whatever breaks is written down, not raised."""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from heedful.spec.case import Episode
from heedful.spec.contract import ActionMode, PolicyContract, mismatches
from heedful.spec.errors import UserError
from heedful.spec.rollout import EpisodeRow
from heedful.spec.seams import Policy, Start, World
from heedful.spec.seeds import seed_sequence
from heedful.spec.state import State, Trajectory

ACTION_WIDTH: dict[ActionMode, int] = {"joint_absolute": 8, "ee_delta": 7, "ee_absolute": 7}
"""Numbers in one action of one robot."""

_LOOK = "world.observe at step"
_FIRST_LOOK = f"{_LOOK} 0"


class BadActions(Exception):
    """A policy returned actions that no robot can execute."""


@dataclass
class _Record:
    """What has happened so far; survives the exception that ends a crashed episode."""

    received: str = ""
    looks: int = 0
    policy_s: float = 0.0
    doing: str = "starting"
    states: list[State] = field(default_factory=list)


def check_contracts(world: World, policy: Policy, name: str) -> None:
    """Compare the two contracts before the first step.

    Raises:
        UserError: They do not fit; every difference is named with both sides.
    """
    found = mismatches(world.contract, policy.contract)
    if found:
        raise UserError(f"Policy {name} does not fit the world: {'; '.join(found)}.")


def run_episode(
    world: World, policy: Policy, episode: Episode, on_error: Callable[[str], None] | None = None
) -> tuple[EpisodeRow, Trajectory | None]:
    """Run one episode and return its row and, unless it crashed, the recorded states.

    The scene is placed under a seed made of the base seed and the case's ``seed_key``, so
    that every policy meets the same scene. The world is rendered only when the policy looks.

    Args:
        world: Any world; it is reset first.
        policy: Any policy; it is reset first.
        episode: What to ask whom.
        on_error: Called with the full traceback when the episode crashes.

    Raises:
        UserError: World and policy do not fit, or the world cannot render here; nothing was run.
    """
    check_contracts(world, policy, episode.policy.name)
    record = _Record()
    begun = time.perf_counter()
    error = ""
    try:
        _execute(world, policy, episode, record)
    except BaseException as raised:
        if not isinstance(raised, Exception) and multiprocessing.parent_process() is None:
            raise  # Ctrl-C; in a worker, which ignores it, only the policy can have raised it
        if isinstance(raised, UserError) and record.doing == _FIRST_LOOK:
            raise  # no rendering here: every other episode would fail, too
        if on_error is not None:
            on_error(traceback.format_exc())
        error = f"{record.doing}: {_one_line(raised)}"
    row = EpisodeRow(
        id=episode.id,
        case=episode.case,
        policy=episode.policy,
        status="crashed" if error else "finished",
        instruction_received=record.received,
        base_seed=episode.base_seed,
        steps=max(len(record.states) - 1, 0),
        looks=record.looks,
        wall_s=time.perf_counter() - begun,
        policy_s=record.policy_s,
        error=error,
    )
    return row, None if error else Trajectory.stack(record.states)


def _execute(world: World, policy: Policy, episode: Episode, record: _Record) -> None:
    case, contract = episode.case, policy.contract
    record.doing = "world.reset"
    state = world.reset(
        case.scene, seed_sequence(episode.base_seed, case.seed_key or case.id), contract.action_mode
    )
    record.states.append(state)
    record.doing = "policy.reset"
    seed = int(seed_sequence(episode.base_seed, case.id, "policy").generate_state(1)[0])
    start = Start(case.instruction.text, seed, case.scene if contract.privileged_state else None)
    received = policy.reset(start)
    if not isinstance(received, str):
        raise TypeError(f"reset must return the instruction received, not {type(received).__name__}")
    record.received = received
    while (steps := len(record.states) - 1) < case.max_steps:
        record.doing = f"{_LOOK} {steps}"
        observation = world.observe(contract.cameras, contract.privileged_state)
        record.doing = f"policy.act at step {steps}"
        asked = time.perf_counter()
        returned = policy.act(observation)
        record.policy_s += time.perf_counter() - asked
        record.looks += 1
        actions = checked_actions(returned, contract)
        if not len(actions):
            break
        for action in actions[: contract.replan_steps][: case.max_steps - steps]:
            record.doing = f"world.step at step {len(record.states) - 1}"
            record.states.append(world.step(action))


def checked_actions(returned: object, contract: PolicyContract) -> NDArray[np.float64]:
    """Return what a policy returned as float64 [T, A].

    Raises:
        BadActions: Wrong shape, or a number that is not finite.
    """
    width = ACTION_WIDTH[contract.action_mode] * contract.robots
    actions = np.array(returned, dtype=np.float64)
    if actions.ndim == 2 and len(actions) == 0 or actions.size == 0:
        return np.zeros((0, width))
    if actions.ndim != 2 or actions.shape[1] != width:
        raise BadActions(
            f"the policy returned actions of shape {list(actions.shape)}; "
            f"{contract.action_mode} needs [T, {width}]"
        )
    if not np.isfinite(actions).all():
        t, a = np.argwhere(~np.isfinite(actions))[0]
        raise BadActions(f"the policy returned {actions[t, a]} in action {t}, number {a}; all must be finite")
    return actions


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    name = type(error).__name__
    line = text if isinstance(error, BadActions) and text else f"{name}: {text}" if text else name
    return line if len(line) <= 300 else line[:297] + "..."
