"""Policies that do to their process, and to who reads their answers, what nobody should."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from typing import Any

import numpy as np
from rollout_doubles import DoublePolicy

from heedful.spec.contract import Observation, PolicyContract
from heedful.spec.seams import Start


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


class Words(str):
    pass


class Slow:
    def __array__(self, *_: object, **__: object) -> Any:
        time.sleep(600)


class Evil(DoublePolicy):
    """Good for red; for blue what its reference says."""

    made = 0
    asked = 0

    def __init__(self, rest: str) -> None:
        super().__init__()
        self.how = rest
        Evil.made += 1
        if self.how == "chdir":
            os.chdir("/")
        if self.how == "interrupted" and Evil.made > 1:
            raise KeyboardInterrupt

    @property
    def contract(self) -> PolicyContract:
        Evil.asked += 1
        if self.how == "fickle" and Evil.asked > 3:
            return DoublePolicy("camera").contract
        if self.how == "blocks" and Evil.asked > 3:
            time.sleep(600)
        return super().contract

    def reset(self, start: Start) -> str:
        received = super().reset(start)
        if self.how == "subclass":
            return Words(received)
        if start.instruction == "blue":
            if self.how == "half":
                return received + "\udc80"
            if self.how == "long":
                return "x" * 2**24
        return received

    def act(self, observation: Observation) -> Any:
        if self.how == "shallow":
            sys.setrecursionlimit(60 + _depth())
        if self.start.instruction == "blue":
            if self.how in ("mute", "lingers", "interrupted"):
                raise Mute
            if self.how == "half-error":
                raise RuntimeError("caf\udce9")
            if self.how == "slow-numbers":
                return Slow()
            if self.how == "fork":
                os.fork()
            if self.how == "c-fork":
                ctypes.CDLL(None).fork()
            if self.how == "orphan":  # the copy keeps all pipes open, as one forked by foreign code does
                if ctypes.CDLL(None).fork() == 0:
                    time.sleep(600)
                    os._exit(0)
                os._exit(3)
            if self.how == "huge":
                return np.full((4, 7), 1e300)
            if self.how == "wide":
                return self._wide(observation)
        return super().act(observation)

    def _wide(self, observation: Observation) -> Any:
        actions = super().act(observation)
        if len(actions):
            actions[:2, 6] = 255
        return actions

    def __del__(self) -> None:
        if self.how == "lingers":
            time.sleep(600)


def _depth() -> int:
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth
