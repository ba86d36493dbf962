"""One episode: reset, look, act, record; whatever breaks is written down, not raised."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from heedful.rollouts.actions import BadActions as BadActions
from heedful.rollouts.actions import beyond_reach
from heedful.rollouts.actions import checked_actions as checked_actions
from heedful.rollouts.failures import one_line, plain, safe_traceback
from heedful.spec.case import Episode
from heedful.spec.contract import PolicyContract, mismatches
from heedful.spec.errors import UserError
from heedful.spec.rollout import EpisodeRow
from heedful.spec.seams import Policy, Start, World
from heedful.spec.seeds import seed_sequence
from heedful.spec.state import State, Trajectory

_LOOK = "world.observe at step"
_FIRST_LOOK = f"{_LOOK} 0"

LONGEST_INSTRUCTION = 20_000
"""Characters of an instruction received; a row of a run folder holds it word for word."""


@dataclass
class _Record:
    """What has happened so far; survives the exception that ends a crashed episode."""

    received: str = ""
    looks: int = 0
    clipped: int = 0
    policy_s: float = 0.0
    doing: str = "starting"
    states: list[State] = field(default_factory=list)


def check_contracts(world: World, policy: Policy, name: str) -> PolicyContract:
    """Compare the two contracts before the first step, and return the policy's.

    Raises:
        UserError: They do not fit; every difference is named with both sides.
    """
    contract = policy.contract
    found = mismatches(world.contract, contract)
    if found:
        raise UserError(f"Policy {name} does not fit the world: {'; '.join(found)}.")
    return contract


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
    contract = check_contracts(world, policy, episode.policy.name)
    record = _Record()
    begun = time.perf_counter()
    error = ""
    try:
        _execute(world, policy, contract, episode, record)
    except BaseException as raised:
        if not isinstance(raised, Exception) and multiprocessing.parent_process() is None:
            raise  # Ctrl-C; in a worker, which ignores it, only the policy can have raised it
        if isinstance(raised, UserError) and record.doing == _FIRST_LOOK:
            raise  # no rendering here: every other episode would fail, too
        if on_error is not None:
            on_error(safe_traceback(raised))
        error = f"{record.doing}: {one_line(raised, named=not isinstance(raised, BadActions))}"
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
        clipped=record.clipped,
    )
    return row, None if error else Trajectory.stack(record.states)


def _execute(
    world: World, policy: Policy, contract: PolicyContract, episode: Episode, record: _Record
) -> None:
    case = episode.case
    record.doing = "world.reset"
    state = world.reset(
        case.scene, seed_sequence(episode.base_seed, case.seed_key or case.id), contract.action_mode
    )
    record.states.append(state)
    record.doing = "policy.reset"
    seed = int(seed_sequence(episode.base_seed, case.id, "policy").generate_state(1)[0])
    start = Start(case.instruction.text, seed, case.scene if contract.privileged_state else None)
    record.received = checked_instruction(policy.reset(start))
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
        beyond = beyond_reach(actions, contract)
        for t, action in enumerate(actions[: contract.replan_steps][: case.max_steps - steps]):
            record.doing = f"world.step at step {len(record.states) - 1}"
            record.states.append(world.step(action))
            record.clipped += bool(beyond[t])


def checked_instruction(received: object) -> str:
    """Return what ``reset`` returned as plain text.

    Raises:
        TypeError: It is no text.
        ValueError: It is text that no row can hold.
    """
    if not isinstance(received, str):
        raise TypeError(f"reset must return the instruction received, not {type(received).__name__}")
    text = str.__str__(received)
    if len(text) > LONGEST_INSTRUCTION:
        raise ValueError(
            f"the instruction received has {len(text)} characters; {LONGEST_INSTRUCTION} are the most"
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the instruction received has {plain(text[error.start])} at character {error.start}, "
            "which is half of a character and cannot be written"
        ) from None
    return text


def lost_row(episode: Episode, error: str) -> EpisodeRow:
    """Return the row of an episode of which nothing is known but that it crashed with ``error``."""
    return EpisodeRow(
        id=episode.id,
        case=episode.case,
        policy=episode.policy,
        status="crashed",
        instruction_received="",
        base_seed=episode.base_seed,
        error=error,
    )
