"""Policies that are odd in one way each, for the process that a check runs them in."""

from __future__ import annotations

import os
import sys
import threading

import numpy as np

from heedful.spec.contract import CameraContract, Observation, PolicyContract
from heedful.spec.seams import Start

CONTRACT = PolicyContract((CameraContract("agent", 64, 64),), "ee_delta", 20.0)
GOAL = np.array([[0.4, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]])
SMALL = GOAL * 0.01 + [0, 0, 0, 0, 0, 0, 1]
ANSWERS = {
    "absolute": GOAL,
    "words": SMALL,
    "done": [],
    "none": None,
    "text": "up",
    "objects": np.array([[object()] * 7]),
    "wide": np.zeros((5, 8)),
    "one": np.zeros(7),
    "nan": GOAL * np.nan,
}
"""Kind of ``Lying`` -> its answer."""


class Lying:
    """Declares changes of the tool pose and answers ``ANSWERS[kind]``."""

    contract = CONTRACT

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def reset(self, start: Start) -> object:
        if self.kind == "leaves":
            sys.exit("no licence")
        told = {"words": "something else", "silent": None}
        return told.get(self.kind, start.instruction)

    def act(self, observation: Observation) -> object:
        return Unreadable() if self.kind == "device" else ANSWERS[self.kind]


class Unreadable:
    """Fails as it is made an array of."""

    def __array__(self, *arguments: object, **options: object) -> object:
        raise RuntimeError("on another device")


class Fatal:
    """Hangs, raises, or ends its process, where ``kind`` says: ``die in act``."""

    contract = CONTRACT

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._meet("load")

    def reset(self, start: Start) -> str:
        self._meet("reset")
        return start.instruction

    def act(self, observation: Observation) -> object:
        self._meet("act")
        return SMALL

    def _meet(self, where: str) -> None:
        if self.kind == f"die in {where}":
            os._exit(3)
        if self.kind == f"raise in {where}":
            raise KeyboardInterrupt("stop")
        if self.kind == f"hang in {where}":
            threading.Event().wait()


class Wordless:
    """Says that it never reads the instruction; one that does not say so closes its gripper at once."""

    contract = CONTRACT

    def __init__(self, ignores_words: bool = True) -> None:
        self.ignores_words = ignores_words

    def reset(self, start: Start) -> str:
        return start.instruction

    def act(self, observation: Observation) -> object:
        return SMALL * [1, 1, 1, 1, 1, 1, 0 if not self.ignores_words else 1]


def make(kind: str) -> Wordless:
    """Return ``wordless``, or one that reads the words and closes its gripper at once."""
    return Wordless(kind == "wordless")
