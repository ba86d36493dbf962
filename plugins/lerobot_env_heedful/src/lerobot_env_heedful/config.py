"""``--env.type=heedful``: what a user may choose, checked before anything is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import gymnasium as gym
from draccus.utils import DecodingError
from lerobot.configs import FeatureType, PolicyFeature
from lerobot.envs.configs import EnvConfig
from lerobot.utils.constants import ACTION, OBS_IMAGES, OBS_STATE, OBS_STR

from heedful.spec.contract import ACTION_WIDTH, ActionMode
from heedful.spec.errors import UserError, unknown
from heedful.workflows.collecting import check_image_size
from heedful.workflows.environments import SUCCESS, CaseGroup, case_groups, check_world
from lerobot_env_heedful.environment import FPS, STATE_WIDTH, STATES
from lerobot_env_heedful.option_types import check_types, listed
from lerobot_env_heedful.trained_on import check_pictures

SPLITS = ("pair", "cell")


@EnvConfig.register_subclass("heedful")
@dataclass
class HeedfulEnvConfig(EnvConfig):
    """heedful's tabletop suites.

    Attributes:
        suite: factors, grid, paraphrase, or another that ``heedful list`` shows.
        pairs: Suites factors and paraphrase: pairs of factors, such as ``color,object``, several
            with ``;`` between them, or ``all``.
        factors: Suite grid: its factors, such as ``color,object``.
        options: Every other option of the suite, as ``{rollouts: 40, in_distribution: 60}``.
        arms: Which arms, with commas between; empty: those in which success is defined.
        label: The judge's label that counts as success: in conflicts for example ``overfit_1``, which is
            following the first factor of the pair.
        split: What makes a LeRobot task: ``pair`` (and arm) or every ``cell`` of it.
        task_ids: Only these tasks of every group; ``None``: all.
        base_seed: Root of the scenes, as in ``heedful run``.
        first_seed: The ``--seed`` under which the first episode meets the first case.
        cameras: Which cameras a policy sees, with commas between.
        image_size: Height and width of what it sees, in px; that of its training data.
        action_mode: joint_absolute (as in heedful's datasets), ee_delta or ee_absolute.
        max_steps: Ends episodes sooner than heedful does; ``None``: never.
        video_size: Height and width of LeRobot's videos, in px.
    """

    fps: int = FPS
    suite: str = "factors"
    pairs: str = ""
    factors: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    arms: str = ""
    label: str = SUCCESS
    split: str = "pair"
    task_ids: list[int] | None = None
    base_seed: int = 0
    first_seed: int = 1000
    cameras: str = "agent,wrist"
    image_size: int = 256
    action_mode: str = "joint_absolute"
    max_steps: int | None = None
    video_size: int = 320

    def __post_init__(self) -> None:
        try:
            self._check()
        except UserError as error:
            raise DecodingError(("env",), str(error)) from error
        state = PolicyFeature(FeatureType.STATE, (STATE_WIDTH,))
        action = PolicyFeature(FeatureType.ACTION, (ACTION_WIDTH[self._action_mode],))
        image = PolicyFeature(FeatureType.VISUAL, (self.image_size, self.image_size, 3))
        keys = [f"{OBS_IMAGES}.{camera}" for camera in self.camera_names]
        # Named as in heedful's datasets, so that policies trained on them need no rename map.
        self.features = {ACTION: action, **dict.fromkeys(STATES, state), **dict.fromkeys(keys, image)}
        called = dict(zip(STATES, (OBS_STATE, f"{OBS_STR}.ee_state"), strict=True))
        self.features_map = {ACTION: ACTION, **called, **{key: key for key in keys}}

    @property
    def camera_names(self) -> tuple[str, ...]:
        """The cameras a policy sees."""
        return listed(self.cameras, ",")

    @property
    def _action_mode(self) -> ActionMode:
        return cast(ActionMode, self.action_mode)

    @property
    def suite_options(self) -> dict[str, Any]:
        """The options of the suite, as ``heedful run`` takes them."""
        own = {"pairs": _pairs(self.pairs), "factors": self.factors}
        return {**{name: value for name, value in own.items() if value}, **self.options}

    def groups(self) -> list[CaseGroup]:
        """Return the cases that are asked, by pair and arm."""
        return case_groups(self.suite, self.suite_options, listed(self.arms, ","), self.label)

    @property
    def gym_kwargs(self) -> dict[str, Any]:
        """What every environment is made with, beside its cases."""
        return {
            "suite": self.suite,
            "cameras": self.camera_names,
            "image_size": self.image_size,
            "action_mode": self.action_mode,
            "label": self.label,
            "base_seed": self.base_seed,
            "first_seed": self.first_seed,
            "max_steps": self.max_steps,
            "video_size": self.video_size,
        }

    def create_envs(
        self, n_envs: int, use_async_envs: bool = False
    ) -> dict[str, dict[int, gym.vector.VectorEnv]]:
        """Return group -> task number -> its environments, as LeRobot wants them."""
        from lerobot_env_heedful.vectors import vector_envs

        return vector_envs(self, n_envs, use_async_envs)

    def _check(self) -> None:
        """Refuse what cannot work.

        Raises:
            UserError: Names the option, what was found and what would do.
        """
        check_types(self)
        for size in (self.image_size, self.video_size):
            check_image_size(size)
        if self.split not in SPLITS:
            raise unknown("split", self.split, SPLITS)
        if self.max_parallel_tasks > 1:
            raise UserError(
                f"max_parallel_tasks is {self.max_parallel_tasks}; tasks in threads cannot share a renderer. "
                "Use --eval.batch_size, which plays in processes."
            )
        given = _pairs(self.pairs), self.factors
        for name, value in zip(("pairs", "factors"), given, strict=True):
            if value and name in self.options:
                raise UserError(f"{name} is given twice, on its own and in options; name it once.")
        if self.task_ids == []:
            raise UserError("task_ids is empty; name tasks, such as [0,3], or leave it out for all.")
        rate = check_world(self.camera_names, self.action_mode)
        if self.fps != rate:
            raise UserError(f"fps is {self.fps}; the world runs at {rate:g} control steps a second.")
        for group in self.groups():
            self.chosen(group)
        check_pictures([f"{OBS_IMAGES}.{camera}" for camera in self.camera_names], self.image_size)

    def chosen(self, group: CaseGroup) -> dict[int, str]:
        """Return task number -> its name, for the tasks of ``group`` that are asked.

        Raises:
            UserError: A number in ``task_ids`` that the group does not have.
        """
        names = list(group.cells()) if self.split == "cell" else [group.name]
        for number in self.task_ids or ():
            if not 0 <= number < len(names):
                raise UserError(f"task_ids names {number}; {group.name} has the tasks 0 to {len(names) - 1}.")
        wanted = range(len(names)) if self.task_ids is None else sorted(set(self.task_ids))
        return {number: names[number] for number in wanted}


def _pairs(text: str) -> str | list[str]:
    """Return pairs as a suite takes them: ``all`` or a list; an empty one when none are named."""
    return "all" if text.strip() == "all" else list(listed(text, ";"))
