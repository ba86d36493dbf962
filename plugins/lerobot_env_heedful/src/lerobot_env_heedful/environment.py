"""The gym environment: every episode is a case of a heedful suite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from heedful.spec.case import Case
from heedful.spec.contract import ACTION_WIDTH, ActionMode, CameraContract
from heedful.workflows.environments import SUCCESS, CasePlayer

FPS = 20
"""Control steps a second of the tabletop world, and frames a second of its videos."""

STATES = ("agent_pos", "ee_state")
"""Observed beside pixels, 8 numbers each, as in heedful's datasets: the seven joint angles in rad and
the gripper opening in m; the tool's x, y, z in m, roll, pitch, yaw in rad, and both fingers in m."""

STATE_WIDTH = 8


class HeedfulEnv(gym.Env[dict[str, Any], NDArray[np.float32]]):
    """Cases of one suite, one an episode; an episode lasts as long as in ``heedful run``.

    Which case an episode meets depends on its seed alone: ``first_seed`` meets the first case
    under ``base_seed``, the next seed the next case; after the last case they begin anew
    under ``base_seed`` + 1. Seeds below ``first_seed`` count backwards from the last case. Without
    a seed an episode meets the case ``stride`` after the one before.

    Attributes:
        task: What the cases are, for example ``color-object_in_distribution``.
        task_description: The words that a policy is told in this episode; empty in a control.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": FPS}

    def __init__(
        self,
        suite: str,
        cases: Sequence[Case],
        task: str = "",
        cameras: Sequence[str] = ("agent", "wrist"),
        image_size: int = 256,
        action_mode: ActionMode = "joint_absolute",
        label: str = SUCCESS,
        base_seed: int = 0,
        first_seed: int = 1000,
        max_steps: int | None = None,
        video_size: int = 320,
        index: int = 0,
        stride: int = 1,
    ) -> None:
        """Make the environment; the world is made by the first reset, in the process that plays.

        Args:
            suite: Name of the suite; its judge says what an episode counts as.
            cases: At least one of its cases.
            task: See the attribute.
            cameras: Which cameras a policy sees.
            image_size: Height and width of what it sees, in px.
            action_mode: What actions mean; see ``heedful.spec.contract.ActionMode``.
            label: The verdict that ``is_success`` stands for.
            base_seed: As in ``heedful run``.
            first_seed: Seed of the episode that meets the first case.
            max_steps: Ends episodes sooner than their case says; ``None``: never.
            video_size: Height and width of ``render``, in px.
            index: Which of ``stride`` environments that take turns this one is.
            stride: How many they are.
        """
        self.task = task or suite
        self.render_mode = "rgb_array"
        self._cases = tuple(cases)
        self._cameras = tuple(CameraContract(name, image_size, image_size) for name in cameras)
        self._film = (CameraContract(cameras[0] if cameras else "agent", video_size, video_size),)
        self._player = CasePlayer(suite, action_mode)
        self._label, self._base_seed, self._first_seed = label, base_seed, first_seed
        self._longest = max_steps
        self._turn, self._stride = index - stride, stride
        self._case = self._cases[index % len(self._cases)]
        self._max_episode_steps = max(map(self._steps_of, self._cases))  # LeRobot reads it by this name
        width = ACTION_WIDTH[action_mode]
        low, high = np.full(width, -np.inf, np.float32), np.full(width, np.inf, np.float32)
        low[-1], high[-1] = 0.0, 1.0  # the gripper; the world clips joints to their limits itself
        self.action_space = spaces.Box(low, high, dtype=np.float32)
        pixels: dict[str, spaces.Space[Any]] = {
            camera.name: spaces.Box(0, 255, (camera.height_px, camera.width_px, 3), np.uint8)
            for camera in self._cameras
        }
        state = spaces.Box(-np.inf, np.inf, (STATE_WIDTH,), np.float32)
        self.observation_space = spaces.Dict({"pixels": spaces.Dict(pixels), **dict.fromkeys(STATES, state)})

    @property
    def task_description(self) -> str:
        """The words that a policy is told in this episode."""
        return self._case.instruction.text

    @property
    def player(self) -> CasePlayer:
        """What plays the cases: its ``trajectory`` and ``verdict`` are those of this episode."""
        return self._player

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin the case that ``seed`` meets and return what a policy sees of it."""
        super().reset(seed=seed)
        self._turn = self._turn + self._stride if seed is None else seed - self._first_seed
        laps, which = divmod(self._turn, len(self._cases))
        self._case = self._cases[which]
        base_seed = self._base_seed + max(laps, 0)
        self._player.begin(self._case, base_seed)
        info = {
            "is_success": False,
            "case": self._case.id,
            "arm": self._case.arm,
            "instruction": self.task_description,
            "base_seed": base_seed,
        }
        return self._observation(), info

    def step(self, action: NDArray[np.float32]) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Execute one action; with the last one comes the verdict of the suite's judge."""
        self._player.step(action)
        over = self._player.steps >= self._steps_of(self._case)
        info: dict[str, Any] = {"is_success": False}
        if over:
            verdict = self._player.verdict()
            info = {
                "is_success": verdict.label == self._label,
                "label": verdict.label or "",  # empty: the judge abstained
                "reason": verdict.reason,
                "case": self._case.id,
            }
        return self._observation(), float(info["is_success"]), False, over, info

    def render(self) -> NDArray[np.uint8]:
        """Return a frame for a video: what the first camera sees now, RGB [H, W, 3]."""
        return self._player.observe(self._film).images_hwc_u8[self._film[0].name]

    def close(self) -> None:
        """Free the world and its renderer; a reset makes them anew."""
        self._player.close()

    def _steps_of(self, case: Case) -> int:
        return case.max_steps if self._longest is None else min(case.max_steps, self._longest)

    def _observation(self) -> dict[str, Any]:
        seen = self._player.observe(self._cameras)
        numbers = (seen.joint_state[0], seen.proprioception[0])
        states = {name: row.astype(np.float32) for name, row in zip(STATES, numbers, strict=True)}
        return {"pixels": dict(seen.images_hwc_u8), **states}
