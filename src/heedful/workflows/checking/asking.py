"""A worker's side of a check: the policy is made, shown one scene and asked once, step by step."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.policies.conventions.advice import Advice
from heedful.policies.lerobot.reference import Described
from heedful.policies.remote import connect
from heedful.policies.remote.connection import RemoteError
from heedful.policies.remote.policy import RemotePolicy
from heedful.policies.remote.references import KINDS
from heedful.rollouts.failures import one_line
from heedful.rollouts.watch import LIMITS, Limits, Watch
from heedful.spec.plugins import load as load_plugin
from heedful.spec.seams import Start
from heedful.workflows.checking.answer import raw_actions, with_answer
from heedful.workflows.checking.compared import compared
from heedful.workflows.checking.found import PolicyCheck
from heedful.workflows.checking.observation import sent_parts

if TYPE_CHECKING:
    from heedful.spec.case import Case
    from heedful.spec.seams import Policy, World

RENDERING = "rendering the world"
STEPS = ("loading", "loading its weights", RENDERING, "policy.reset", "policy.act")
"""What is done at each step, in order."""

SUITE = "factors"
"""Its first case is what is looked at."""


@dataclass(frozen=True)
class Missing:
    """In place of a check: the package ``name`` is not installed, as ``line`` says."""

    name: str | None
    line: str


@dataclass
class Asking:
    """Called once for each of ``STEPS``, in order; each call returns what is found so far.

    Attributes:
        ref: Policy reference.
        world: Name of the world.
        pictures: Folder for the pictures that go out; ``None``: they are not saved.
        limits: When something is taken to hang.
    """

    ref: str
    world: str
    pictures: Path | None
    limits: Limits = LIMITS
    _watch: Watch | None = field(default=None, repr=False)
    _under_way: Generator[PolicyCheck] | None = field(default=None, repr=False)

    def watched_by(self, watch: Watch) -> None:
        """Let a driver know through ``watch`` how long everything may take."""
        self._watch = watch

    def __call__(self, step: str) -> PolicyCheck | Missing:
        """Take the next step and return what is found so far.

        Raises:
            UserError: The policy or the world cannot be made, or the pictures cannot be written.
        """
        if self._under_way is None:
            self._under_way = self._steps()
        try:
            return next(self._under_way)
        except ModuleNotFoundError as error:
            return Missing(error.name, str(error))

    def close(self) -> None:
        """Free the world and hang up."""
        if self._under_way is not None:
            self._under_way.close()

    def _steps(self) -> Generator[PolicyCheck]:
        asked = self._named()
        with self._limited(f"loading world {self.world}", self.limits.load_s):
            world: World = load_plugin("heedful.worlds", self.world)()
        try:
            check = compared(self.ref, self.world, asked, world.contract)
            yield check
            policy = self._loaded(asked)
            yield check
            yield from self._asked(check, policy, world, isinstance(asked, Described) and asked.recognised)
        finally:
            world.close()
            if isinstance(asked, RemotePolicy):
                asked.close()

    def _named(self) -> Policy | Described:
        """Return the policy; a checkpoint is compared before its weights are loaded."""
        from heedful.policies.lerobot.reference import described
        from heedful.policies.references import load

        kind, _, rest = self.ref.partition(":")
        if kind == "lerobot":
            return described(rest)
        with self._limited(f"loading policy {self.ref}", self.limits.load_s):
            return connect(kind, rest) if kind in KINDS else load(self.ref)

    def _loaded(self, asked: Policy | Described) -> Policy:
        from heedful.policies.lerobot import loaded

        if not isinstance(asked, Described):
            return asked
        with self._limited(f"loading policy {self.ref}", self.limits.load_s):
            return loaded(asked)

    def _asked(
        self, check: PolicyCheck, policy: Policy, world: World, recognised: bool
    ) -> Generator[PolicyCheck]:
        case, contract = _first_case(), policy.contract
        told = case.instruction.text
        with self._limited(RENDERING, self.limits.episode_s):
            world.reset(case.scene, 0, contract.action_mode)
            seen = world.observe(contract.cameras, contract.privileged_state)
        check = replace(check, sent=sent_parts(policy, seen, told, self.pictures))
        yield check
        try:
            with self._limited("policy.reset", self.limits.call_s):
                received: object = policy.reset(
                    Start(told, 0, case.scene if contract.privileged_state else None)
                )
        except BaseException as raised:  # somebody else's code fails in its own way
            yield replace(check, error=_line(raised))
            return
        if not isinstance(received, str):
            kind = type(received).__name__
            yield replace(check, error=f"reset must return the instruction received, not {kind}")
            return
        yield check
        try:
            with self._limited("policy.act", self.limits.call_s):
                check = with_answer(check, policy, raw_actions(policy, seen), seen, recognised)
        except BaseException as raised:
            yield replace(check, error=_line(raised))
            return
        check = replace(check, sent=sent_parts(policy, seen, received or told, self.pictures))
        if received != told and not check.error:
            line = f"The policy says that it was told {received!r}; the case says {told!r}."
            check = replace(check, advice=(*check.advice, Advice(line, "")))
        yield check

    def _limited(self, doing: str, limit_s: float) -> AbstractContextManager[None]:
        return nullcontext() if self._watch is None else self._watch.limited(doing, limit_s)


def _first_case() -> Case:
    suite = load_plugin("heedful.suites", SUITE)()
    found: Case = suite.cases(suite.options({}))[0]
    return found


def _line(raised: BaseException) -> str:
    return one_line(raised, named=not isinstance(raised, RemoteError))
