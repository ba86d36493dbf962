"""Policies that several workers can share, exact and told to misbehave."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.spec.contract import CameraContract, Observation, PolicyContract
from heedful.spec.seams import Start

PLACES = {"red": 0.2, "blue": -0.2}


@dataclass(eq=False)
class Session:
    words: str
    rng: np.random.Generator
    looks: int = 0
    kept: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]] = field(default_factory=list)


class Unpicklable(Exception):
    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other}")


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


class Odd:
    def __reduce__(self) -> Any:
        raise RuntimeError("cannot be pickled")


class Array(np.ndarray):  # type: ignore[type-arg]  # of whatever it is a view of
    """Actions of a class that only the policy's module knows."""


class Words(str):
    """Text of such a class."""


class Sharable:
    """Moves in chunks of four to a place that words, seed, image and look decide; ``rest`` says how it fails.

    ``raise``, ``mute``, ``unpicklable``, ``hang``, ``die`` (kills its process) and ``exit`` whenever a
    session asked for blue is among those asked for at its second look; ``once=FILE`` dies there unless
    FILE exists, and makes it; ``count`` returns too few chunks; ``no-numbers`` and ``subclass`` return for
    blue what cannot be sent, or should not; ``later`` kills its process a while after it began with blue,
    whoever it is answering then; ``keep`` checks that the images it keeps are not written over; ``load``
    dies when it is made; ``begin`` raises for blue; ``slow`` takes 20 ms a call; ``privileged`` asks for
    the state; ``size`` says in its actions for how many sessions they were asked.
    """

    def __init__(self, rest: str = "") -> None:
        self.rest = rest
        if rest == "load":
            os.kill(os.getpid(), signal.SIGKILL)
        self._session: Session | None = None

    @property
    def contract(self) -> PolicyContract:
        cameras = (CameraContract("agent", 16, 24), CameraContract("wrist", 8, 8))
        return PolicyContract(cameras, "ee_absolute", 20.0, privileged_state=self.rest == "privileged")

    def reset(self, start: Start) -> str:
        self._session, received = self.begin(start)
        return received

    def act(self, observation: Observation) -> NDArray[np.float64]:
        return self.act_many([self._session], [observation])[0]

    def begin(self, start: Start) -> tuple[Session, str]:
        if self.rest == "begin" and start.instruction == "blue":
            raise ValueError("what is blue?")
        received = start.instruction.upper()
        if self.rest == "subclass":
            received = Words(received)
        if self.rest == "later" and start.instruction == "blue":
            threading.Timer(0.2, os._exit, [9]).start()
        return Session(start.instruction, np.random.default_rng(start.seed)), received

    def act_many(
        self, sessions: Sequence[Any], observations: Sequence[Observation]
    ) -> list[NDArray[np.float64]]:
        if any(session.words == "blue" and session.looks == 1 for session in sessions):
            self._fail()
        if self.rest in ("slow", "later"):
            time.sleep(0.02 if self.rest == "slow" else 0.1)
        chunks = []
        for session, observation in zip(sessions, observations, strict=True):
            session.looks += 1
            image = observation.images_hwc_u8["agent"]
            if self.rest == "keep":
                session.kept.append((image, image.copy()))
                assert all((kept == copied).all() for kept, copied in session.kept)
                assert observation.images_hwc_u8["wrist"].shape == (8, 8, 3)
            goal = np.array([0.5, PLACES[session.words], float(image[..., 1].mean()) / 1000 + 0.1])
            goal += session.rng.normal(0, 0.01, 3)
            t = (np.arange(4) + 1)[:, None] / 4
            actions = np.zeros((4 if session.looks < 6 else 0, 7))
            actions[:, :3] = (observation.proprioception[0, :3] * (1 - t) + goal * t)[: len(actions)]
            if self.rest == "size":
                actions[:, 3] = len(sessions)
            odd = self.rest in ("no-numbers", "subclass") and session.words == "blue"
            chunks.append(actions if not odd else Odd() if self.rest == "no-numbers" else actions.view(Array))
        return chunks[1:] if self.rest == "count" else chunks

    def _fail(self) -> None:
        kind, _, file = self.rest.partition("=")
        if kind == "raise":
            raise ValueError("blue is too much")
        if kind == "mute":
            raise Mute
        if kind == "unpicklable":
            raise Unpicklable("this", "that")
        if kind == "exit":
            raise SystemExit(3)
        if kind == "hang":
            time.sleep(600)
        if kind == "die" or (kind == "once" and not Path(file).exists()):
            if file:
                Path(file).touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Unsharable:
    """Keeps its episode within itself."""

    contract = Sharable().contract

    def reset(self, start: Start) -> str:
        return start.instruction

    def act(self, observation: Observation) -> NDArray[np.float64]:
        return np.zeros((0, 7))
