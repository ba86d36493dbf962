"""What a worker and the process that holds the policies say to each other; small, without pixels."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from heedful.rollouts.shared.images import Layout
from heedful.spec.contract import Observation, PolicyContract
from heedful.spec.seams import Start


@dataclass(frozen=True)
class Load:
    """Asks for the contract of policy ``ref``, or why it cannot be shared; see ``Loaded``."""

    ref: str


@dataclass(frozen=True)
class Loaded:
    """A policy's contract, and why it cannot be shared; empty if it can."""

    contract: PolicyContract
    not_shared: str


@dataclass(frozen=True)
class NewMemory:
    """A descriptor of image memory follows on the pipe; the one before it is no longer used."""


@dataclass(frozen=True)
class Begin:
    """Begins an episode with policy ``ref``; answered with the instruction as the policy received it."""

    ref: str
    start: Start


@dataclass(frozen=True, eq=False)
class Act:
    """Asks for actions [T, A]: an observation without its images, which lie in the memory."""

    observation: Observation
    layout: Layout


Question = Load | Begin | Act


@dataclass(frozen=True)
class Raised:
    """In place of an answer: what the policy raised, pickled, and its traceback."""

    error: bytes
    name: str
    text: str
    traceback: str

    @staticmethod
    def of(error: BaseException, traceback: str) -> Raised:
        """Return ``error`` in a form that can be sent, whatever it is."""
        try:
            data = pickle.dumps(error)
            pickle.loads(data)
        except Exception:
            data = b""  # somebody else's exception, which cannot be pickled or not be made again
        return Raised(data, type(error).__name__, str(error), traceback)

    def again(self) -> BaseException:
        """Return the exception, to be raised in the worker, with the traceback as its note."""
        error: Any = RuntimeError(f"{self.name}: {self.text}")
        if self.error:
            error = pickle.loads(self.error)
        error.add_note(f"\nIn the process that holds the policies:\n{self.traceback}")
        result: BaseException = error
        return result
