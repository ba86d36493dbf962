"""What runs inside the process that holds the policies: questions of all workers, answered in batches."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import connection, reduction
from typing import Any

from heedful.rollouts.failures import plain
from heedful.rollouts.home import end_if_forked, stay_at_home
from heedful.rollouts.lifeline import end_with_parent
from heedful.rollouts.loading import LoadedPolicy
from heedful.rollouts.loading import load as load_policy
from heedful.rollouts.loop import checked_instruction
from heedful.rollouts.shared.batch import answers, why_not_shared
from heedful.rollouts.shared.images import ImageMemory
from heedful.rollouts.shared.messages import Act, Answer, Begin, Load, Loaded, NewMemory, Question, Raised
from heedful.rollouts.shared.serving import Serving
from heedful.rollouts.surroundings import Surroundings
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
        host = _Host(control, watch, serving, limits)
        stay_at_home(host.hang_up)
        host.serve()
    os._exit(0)


@dataclass(eq=False)
class _Guest:
    """A worker: its pipe, its images, its policy and episode, and the question it waits with."""

    pid: int
    pipe: connection.Connection
    memory: ImageMemory | None = None
    ref: str = ""
    loaded: LoadedPolicy | None = None
    session: Any = None
    question: Question | None = None
    number: int = 0


@dataclass(eq=False)
class _Host:
    control: connection.Connection
    watch: Watch
    serving: Serving
    limits: Limits
    guests: list[_Guest] = field(default_factory=list)
    queue: list[_Guest] = field(default_factory=list)
    policies: OrderedDict[str, LoadedPolicy] = field(default_factory=OrderedDict)
    last_call_s: float = 0.0
    surroundings: Surroundings = field(default_factory=Surroundings.now)

    def hang_up(self) -> None:
        """Close all pipes."""
        for pipe in [self.control, *(guest.pipe for guest in self.guests)]:
            pipe.close()

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

    def _told(self, pid: int | None) -> None:
        """Do what the driver says: there is a new worker, or this is the end."""
        if pid is None:
            raise EOFError
        self.guests.append(_Guest(pid, connection.Connection(reduction.recv_handle(self.control))))

    def _asked(self, guest: _Guest) -> None:
        try:
            number, question = pickle.loads(guest.pipe.recv_bytes())
            if isinstance(question, NewMemory):
                guest.memory = ImageMemory(reduction.recv_handle(guest.pipe))
                guest.memory.close()
                return
        except (EOFError, OSError):
            self._leave(guest)
            return
        guest.number, guest.question = number, question
        self.queue.append(guest)

    def _leave(self, guest: _Guest) -> None:
        guest.pipe.close()
        self.guests.remove(guest)
        if guest in self.queue:
            self.queue.remove(guest)
        self._end_session(guest)

    def _end_session(self, guest: _Guest) -> None:
        with self._limited([guest], "ending an episode", self.limits.call_s):
            guest.loaded = guest.session = None

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
        if not isinstance(first.question, Act):
            return [first]
        return [
            guest for guest in self.queue if isinstance(guest.question, Act) and guest.loaded is first.loaded
        ]

    def _answer(self, those: Sequence[_Guest]) -> None:
        questions = [guest.question for guest in those]
        if isinstance(questions[0], Act):
            begun = time.monotonic()
            found = self._act(those)
            self.last_call_s = time.monotonic() - begun
        else:
            found = [self._loaded_or_begun(those[0])]
        end_if_forked()
        for guest, answer in zip(those, found, strict=True):
            self.queue.remove(guest)
            guest.question = None
            try:
                guest.pipe.send_bytes(pickle.dumps((guest.number, answer)))
            except OSError:
                self._leave(guest)

    def _loaded_or_begun(self, guest: _Guest) -> Answer:
        question = guest.question
        try:
            if isinstance(question, Load):
                return self._load(guest, question.ref)
            assert isinstance(question, Begin)
            if guest.loaded is None or guest.ref != question.ref:
                self._load(guest, question.ref)
            with self._limited([guest], "policy.reset", self.limits.call_s):
                return self._begin(guest, question)
        except BaseException as error:
            return Raised.of(error)

    def _begin(self, guest: _Guest, question: Begin) -> Answer:
        try:
            policy: Any = guest.loaded.policy if guest.loaded is not None else None
            guest.session, received = policy.begin(question.start)
            return checked_instruction(received)
        except BaseException as error:
            return Raised.of(error)

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

        policy: Any = those[0].loaded.policy if those[0].loaded is not None else None
        return answers(policy, [guest.session for guest in those], observations, call)

    def _load(self, guest: _Guest, ref: str) -> Loaded:
        """Give ``guest`` the policy ``ref``, which stays its own until it asks for another."""
        self._end_session(guest)
        self.surroundings.restore()
        if ref not in self.policies:
            with self._limited([guest], f"loading policy {ref}", self.limits.load_s):
                loaded = load_policy(ref)
                not_shared = plain(why_not_shared(loaded, ref))
                if not_shared:  # the worker loads its own; this one is not kept here
                    return Loaded(loaded.contract, not_shared)
            self.policies[ref] = loaded
            with self._limited([guest], "ending a policy", self.limits.call_s):
                while len(self.policies) > KEEP:
                    self.policies.popitem(last=False)
        self.policies.move_to_end(ref)
        guest.ref, guest.loaded = ref, self.policies[ref]
        return Loaded(guest.loaded.contract, "", guest.loaded.identity, guest.loaded.training_seed)

    @contextmanager
    def _limited(self, those: Sequence[_Guest], doing: str, limit_s: float) -> Iterator[None]:
        with self.serving.those([guest.pid for guest in those]), self.watch.limited(doing, limit_s):
            try:
                yield
            finally:
                self.surroundings.restore_calls()
