"""Questions to the two models: each is asked once, and its answer kept."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import asdict, replace

from heedful.language.chat import Chat, Reply, Sampling
from heedful.spec.codec import digest, from_json
from heedful.spec.errors import UserError
from heedful.store.answers import Answers, answers_kept
from heedful.suites.paraphrase.generation.prompts import Prompt
from heedful.suites.paraphrase.generation.stages import Role
from heedful.workflows.paraphrase.costs import Usage

SAMPLING: dict[Role, Sampling] = {"generator": Sampling(), "verifier": Sampling(temperature=0.0)}
"""The generator varies as it likes; the verifier is to answer alike whenever it is asked."""


class Stopped(Exception):
    """Another question failed for good, or the user has had enough."""


class Stop:
    """Tells all threads to begin nothing more; a wait ends at once."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def now(self) -> None:
        """Begin nothing more."""
        self._event.set()

    def pause(self, seconds: float) -> None:
        """Wait, or raise ``Stopped`` as soon as it is called for."""
        if self._event.wait(seconds):
            raise Stopped


class Asker:
    """Puts prompts to the two models, from several threads at once.

    The answer to a question (model, prompt, parameters, and number where one is repeated) is
    on the disk before it is used; from then on it is never asked again.
    """

    def __init__(
        self,
        answers: Answers,
        names: Mapping[Role, str],
        chats: Mapping[Role, Chat],
        stop: Stop,
        max_calls: int | None = None,
    ) -> None:
        """Prepare for asking.

        Args:
            answers: Where answers are kept.
            names: Role -> the model's name.
            chats: Role -> its client.
            stop: When to begin nothing more.
            max_calls: Calls ever made for this file: answers kept by earlier commands, and new ones.
        """
        self._answers = answers
        self._names = names
        self._chats = chats
        self._stop = stop
        self._max_calls = max_calls
        self._lock = threading.Lock()
        self._asked = answers_kept(answers.folder)
        self._usage: dict[Role, Usage] = {"generator": Usage(), "verifier": Usage()}

    @property
    def usage(self) -> dict[Role, Usage]:
        """Return what was used so far."""
        with self._lock:
            return dict(self._usage)

    def __call__(self, role: Role, prompt: Prompt, number: int) -> Reply:
        """Return the answer to ``prompt``.

        Raises:
            UserError: The model cannot be asked, the disk refuses, or ``max_calls`` are used up.
            Stopped: Nothing more is to be begun.
        """
        self._stop.pause(0)
        sampling = SAMPLING[role]
        request = {
            "model": self._names[role],
            "system": prompt.system,
            "user": prompt.user,
            "sampling": asdict(sampling),
            "number": number,
        }
        key = digest(request, 32)
        kept = self._answers.get(key)
        if kept is not None:
            reply = from_json(Reply, kept.get("reply"), f"{self._answers.folder}/{key}.json")
        else:
            self._count()
            reply = self._chats[role].complete(prompt.system, prompt.user, sampling)
            self._answers.put(key, {"request": request, "reply": asdict(reply)})
        self._note(role, reply, sent=kept is None)
        return reply

    def _count(self) -> None:
        with self._lock:
            if self._max_calls is not None and self._asked >= self._max_calls:
                raise UserError(
                    f"Stopped after {self._max_calls} calls, as --max-calls says, before all cells were "
                    "done. Every answer is kept: the same command with a larger --max-calls goes on."
                )
            self._asked += 1

    def _note(self, role: Role, reply: Reply, sent: bool) -> None:
        untold = reply.input_tokens is None or reply.output_tokens is None
        with self._lock:
            used = self._usage[role]
            self._usage[role] = replace(
                used,
                calls=used.calls + 1,
                sent=used.sent + sent,
                input_tokens=used.input_tokens + (reply.input_tokens or 0),
                output_tokens=used.output_tokens + (reply.output_tokens or 0),
                untold=used.untold + untold,
            )


def described(usage: Mapping[Role, Usage]) -> str:
    """Return a few words on calls and tokens so far, for whoever waits."""
    total = list(usage.values())
    tokens = sum(u.input_tokens + u.output_tokens for u in total)
    return f"{sum(u.calls for u in total)} calls ({sum(u.sent for u in total)} new), {tokens} tokens"
