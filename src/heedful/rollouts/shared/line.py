"""A worker's side: a policy whose weights are in another process."""

from __future__ import annotations

import pickle
import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from multiprocessing import connection, reduction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.rollouts.failures import RaisedElsewhere, one_line
from heedful.rollouts.shared.images import ImageMemory, size_needed
from heedful.rollouts.shared.messages import Act, Begin, Load, Loaded, NewMemory, Question, Raised
from heedful.rollouts.watch import Watch
from heedful.spec.contract import Observation, PolicyContract
from heedful.spec.errors import UserError
from heedful.spec.seams import Start


class Line:
    """The pipe to the process that holds the policies, and the memory for the images that go there.

    If that process ends, whoever waits for its answer goes on waiting: it does not know why, and must not
    call it the fault of its episode. The driver knows, ends this worker and has the episode run again.
    """

    def __init__(self, pipe: connection.Connection) -> None:
        self._pipe = pipe
        self._asked = 0
        self._memory: ImageMemory | None = None

    def ask(self, question: Question) -> Any:
        """Return the answer to ``question``.

        Raises:
            UserError: One was raised there.
            RaisedElsewhere: Something else was.
        """
        self._asked += 1
        number, answer = 0, None
        try:
            self._pipe.send_bytes(pickle.dumps((self._asked, question)))
            while number != self._asked:
                number, answer = pickle.loads(self._pipe.recv_bytes())
        except (EOFError, OSError):
            threading.Event().wait()  # until the driver ends this process
        if isinstance(answer, Raised):
            raise answer.again()
        return answer

    def act(self, observation: Observation) -> NDArray[np.float64]:
        """Return the policy's next actions, [T, A]."""
        images = observation.images_hwc_u8
        memory = self.memory(sum(image.size for image in images.values()))
        layout = memory.write(images)
        actions: NDArray[np.float64] = self.ask(Act(replace(observation, images_hwc_u8={}), layout))
        return actions

    def memory(self, size: int) -> ImageMemory:
        """Return memory for ``size`` bytes, known to the other process, too."""
        if self._memory is None or self._memory.size < size:
            memory = ImageMemory.make(size)
            try:
                self._pipe.send_bytes(pickle.dumps((0, NewMemory())))
                reduction.send_handle(self._pipe, memory.descriptor, 0)
            except OSError:
                pass  # the next question finds out
            memory.close()
            self._memory = memory
        return self._memory

    def load(self, ref: str) -> Loaded:
        """Have the policy ``ref`` loaded there.

        Raises:
            UserError: It cannot be made.
        """
        try:
            loaded: Loaded = self.ask(Load(ref))
        except RaisedElsewhere as error:
            raise UserError(f"Policy {ref!r} cannot be made: {one_line(error)}") from error
        if not loaded.not_shared:
            self.memory(size_needed(loaded.contract.cameras))
        return loaded


class SharedPolicy:
    """A policy held by another process, as a worker's loop sees it."""

    def __init__(self, ref: str, contract: PolicyContract, line: Line, watch: Watch | None) -> None:
        self.contract = contract
        self._ref, self._line, self._watch = ref, line, watch

    def reset(self, start: Start) -> str:
        """Begin an episode and return the instruction as the policy there received it."""
        with self._doing("policy.reset"):
            received: str = self._line.ask(Begin(self._ref, start))
        return received

    def act(self, observation: Observation) -> NDArray[np.float64]:
        """Return the next actions, [T, A]."""
        with self._doing(f"policy.act at step {observation.step}"):
            return self._line.act(observation)

    def _doing(self, words: str) -> AbstractContextManager[None]:
        """Name what is waited for. The call itself is limited where it is made, not here in the queue."""
        return nullcontext() if self._watch is None else self._watch.limited(words, None)
