"""What a worker and the process that holds the policies say to each other; small, without pixels.

The policies' modules may be known in that process only. So answers are plain values: arrays of float64,
str, the classes below. Questions travel as ``(number, question)`` and answers as ``(number, answer)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heedful.rollouts.failures import RaisedElsewhere, name_and_text, safe_traceback
from heedful.rollouts.shared.images import Layout
from heedful.spec.contract import Observation, PolicyContract
from heedful.spec.errors import UserError
from heedful.spec.seams import Start


@dataclass(frozen=True)
class Load:
    """Asks for the contract of policy ``ref``, or why it cannot be shared; see ``Loaded``."""

    ref: str


@dataclass(frozen=True)
class Loaded:
    """What a policy said of itself, see ``LoadedPolicy``, and why it cannot be shared; empty if it can."""

    contract: PolicyContract
    not_shared: str
    identity: str = ""
    training_seed: int | None = None


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


Answer = Any
"""``Loaded``, the instruction received, actions [T, A] of float64, or ``Raised``."""


@dataclass(frozen=True)
class Raised:
    """In place of an answer: what was raised there, as text, and its traceback."""

    name: str
    text: str
    traceback: str
    is_user_error: bool

    @staticmethod
    def of(error: BaseException) -> Raised:
        """Return ``error`` in a form that can be sent, whatever it is."""
        name, text = name_and_text(error)
        return Raised(name, text, safe_traceback(error), isinstance(error, UserError))

    def again(self) -> Exception:
        """Return an exception to be raised in the worker, with the traceback as its note."""
        error = UserError(self.text) if self.is_user_error else RaisedElsewhere(self.name, self.text)
        error.add_note(f"\nIn the process that holds the policies:\n{self.traceback}")
        return error
