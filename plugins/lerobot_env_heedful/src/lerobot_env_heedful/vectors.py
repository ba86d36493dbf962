"""Many environments as LeRobot runs them: {group: {task number: vector environment}}."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
from lerobot.envs.utils import _LazyAsyncVectorEnv

from heedful.spec.case import Case
from lerobot_env_heedful.environment import HeedfulEnv

if TYPE_CHECKING:
    from lerobot_env_heedful.config import HeedfulEnvConfig


def vector_envs(
    config: HeedfulEnvConfig, n_envs: int, use_async_envs: bool
) -> dict[str, dict[int, gym.vector.VectorEnv]]:
    """Return the environments of every task; those of a task take turns at its cases.

    Processes are started when a task begins, as LeRobot does it for its own suites.

    Args:
        config: What was asked for.
        n_envs: Environments a task.
        use_async_envs: In processes of their own, where there are several.
    """
    found: dict[str, dict[int, gym.vector.VectorEnv]] = {}
    for group in config.groups():
        cells = group.cells()
        for number, name in config.chosen(group).items():
            cases = cells[name] if config.split == "cell" else group.cases
            task = f"{group.name}/{name}" if config.split == "cell" else group.name
            make = [_maker(config.gym_kwargs, cases, task, i, n_envs) for i in range(n_envs)]
            found.setdefault(group.name, {})[number] = _together(make, use_async_envs)
            logging.info("heedful: task %d of %s is %s, %d cases", number, group.name, task, len(cases))
    return found


def _maker(
    kwargs: dict[str, Any], cases: Sequence[Case], task: str, index: int, stride: int
) -> Callable[[], HeedfulEnv]:
    return partial(HeedfulEnv, cases=cases, task=task, index=index, stride=stride, **kwargs)


def _together(make: list[Callable[[], HeedfulEnv]], use_async_envs: bool) -> gym.vector.VectorEnv:
    if use_async_envs and len(make) > 1:
        lazy: gym.vector.VectorEnv = _LazyAsyncVectorEnv(make)  # LeRobot's stand-in for one
        return lazy
    return gym.vector.SyncVectorEnv(make, autoreset_mode=gym.vector.AutoresetMode.NEXT_STEP)
