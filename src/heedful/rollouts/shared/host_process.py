"""What runs inside the process that holds the policies: questions of all workers, answered in batches."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import connection, reduction
from typing import Any

from heedful.policies.references import load as load_policy
from heedful.rollouts.lifeline import end_with_parent
from heedful.rollouts.shared.batch import answers, why_not_shared
from heedful.rollouts.shared.images import ImageMemory
from heedful.rollouts.shared.messages import Act, Begin, Load, Loaded, NewMemory, Question, Raised
from heedful.rollouts.shared.serving import Serving
from heedful.rollouts.watch import Limits, Watch

KEEP = 2
"""Policies kept loaded at a time, the least recently used leaves first; one in use stays anyway."""
WAIT_S, WAIT_SHARE = 0.002, 0.1
"""A call waits for other workers at most so long, and at most this share of what the last one took."""


def main(control: connection.Connection, watch: Watch, serving: Serving, limits: Limits) -> None:
    """Answer the workers that the driver introduces through ``control``, until it says ``None``."""
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)  # so that whatever a policy starts is ended with this process
    with contextlib.suppress(OSError):
        os.dup2(2, 1)  # standard output is for the driver's results
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    end_with_parent()
    with contextlib.suppress(EOFError, OSError):  # the driver is gone
        control.send("ready")
        _Host(control, watch, serving, limits).serve()
    os._exit(0)


@dataclass(eq=False)
class _Guest:
    """A worker: its pipe, its images, the episode it is in and the question it waits with."""

    pid: int
    pipe: connection.Connection
    memory: ImageMemory | None = None
    policy: Any = None
    session: Any = None
    question: Question | None = None


@dataclass(eq=False)
class _Host:
    control: connection.Connection
    watch: Watch
    serving: Serving
    limits: Limits
    guests: list[_Guest] = field(default_factory=list)
    queue: list[_Guest] = field(default_factory=list)
    policies: OrderedDict[str, Any] = field(default_factory=OrderedDict)
    alone: set[int] = field(default_factory=set)
    last_call_s: float = 0.0

    def serve(self) -> None:
        while True:
            self._listen(None)
            while self.queue:
                if isinstance(self.queue[0].question, Act):
                    self._wait_for_more()
                if self.queue:  # whoever asked may have left
                    self._answer(self._next())
                self._listen(0)

    def _listen(self, timeout_s: float | None) -> None:
        """Take in what the driver and the workers have to say."""
        pipes = [self.control, *(guest.pipe for guest in self.guests)]
        ready = connection.wait(pipes, timeout_s)
        while self.control.poll():  # all of it first: it was said before the workers were told to ask
            self._told(self.control.recv())
        for guest in [guest for guest in self.guests if guest.pipe in ready]:
            self._asked(guest)

    def _told(self, message: tuple[str, int] | None) -> None:
        """Do what the driver says: a new worker, one that is to be answered alone or not, or the end."""
        if message is None:
            raise EOFError
        what, pid = message
        if what == "worker":
            pipe = connection.Connection(reduction.recv_handle(self.control))
            self.guests.append(_Guest(pid, pipe))
        elif what == "alone":
            self.alone.add(pid)
        else:
            self.alone.discard(pid)

    def _asked(self, guest: _Guest) -> None:
        try:
            question = pickle.loads(guest.pipe.recv_bytes())
            if isinstance(question, NewMemory):
                guest.memory = ImageMemory(reduction.recv_handle(guest.pipe))
                guest.memory.close()
                return
        except (EOFError, OSError):
            self._leave(guest)
            return
        guest.question = question
        self.queue.append(guest)

    def _leave(self, guest: _Guest) -> None:
        guest.pipe.close()
        self.guests.remove(guest)
        if guest in self.queue:
            self.queue.remove(guest)

    def _wait_for_more(self) -> None:
        """Give other workers in an episode a moment to ask, too: never long beside what a call takes."""
        until = time.monotonic() + min(WAIT_S, WAIT_SHARE * self.last_call_s)
        while any(guest.session is not None and guest.question is None for guest in self.guests):
            left_s = until - time.monotonic()
            if left_s <= 0:
                return
            self._listen(left_s)

    def _next(self) -> list[_Guest]:
        """Return whom to answer next: the first in the queue, and whoever can be answered with it."""
        first = self.queue[0]
        if not isinstance(first.question, Act) or first.pid in self.alone:
            return [first]
        return [
            guest
            for guest in self.queue
            if isinstance(guest.question, Act)
            and guest.policy is first.policy
            and guest.pid not in self.alone
        ]

    def _answer(self, those: Sequence[_Guest]) -> None:
        questions = [guest.question for guest in those]
        if isinstance(questions[0], Act):
            begun = time.monotonic()
            found = self._act(those)
            self.last_call_s = time.monotonic() - begun
        else:
            try:
                found = [self._load_or_begin(those[0])]
            except BaseException as error:
                found = [Raised.of(error, traceback.format_exc())]
        for guest, answer in zip(those, found, strict=True):
            self.queue.remove(guest)
            guest.question = None
            try:
                guest.pipe.send_bytes(pickle.dumps(answer))
            except OSError:
                self._leave(guest)

    def _load_or_begin(self, guest: _Guest) -> Any:
        question = guest.question
        if isinstance(question, Load):
            guest.session = guest.policy = None
            policy = self._loaded(question.ref, guest)
            return Loaded(policy.contract, why_not_shared(policy, question.ref))
        assert isinstance(question, Begin)
        policy = self._loaded(question.ref, guest)
        with self._limited([guest], "policy.reset", self.limits.call_s):
            guest.session, received = policy.begin(question.start)
        guest.policy = policy
        return received

    def _act(self, those: Sequence[_Guest]) -> list[Any]:
        observations = []
        for guest in those:
            question = guest.question
            assert isinstance(question, Act) and guest.memory is not None
            images = guest.memory.read(question.layout)
            observations.append(replace(question.observation, images_hwc_u8=images))

        def call(indices: Sequence[int], make: Callable[[], Any]) -> Any:
            asking = [those[i] for i in indices]
            steps = sorted({str(observations[i].step) for i in indices})
            many = f" for {len(asking)} workers" if len(asking) > 1 else ""
            words = f"policy.act at step {', '.join(steps)}{many}"
            with self._limited(asking, words, self.limits.call_s):
                return make()

        return answers(those[0].policy, [guest.session for guest in those], observations, call)

    def _loaded(self, ref: str, guest: _Guest) -> Any:
        if ref not in self.policies:
            with self._limited([guest], f"loading policy {ref}", self.limits.load_s):
                policy = load_policy(ref)
            if why_not_shared(policy, ref):
                return policy  # the worker loads its own; it is not kept here
            self.policies[ref] = policy
            while len(self.policies) > KEEP:
                self.policies.popitem(last=False)
        self.policies.move_to_end(ref)
        return self.policies[ref]

    @contextmanager
    def _limited(self, those: Sequence[_Guest], doing: str, limit_s: float) -> Iterator[None]:
        with self.serving.those([guest.pid for guest in those]), self.watch.limited(doing, limit_s):
            yield
