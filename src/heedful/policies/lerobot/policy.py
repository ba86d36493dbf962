"""A LeRobot policy asked by the engine: observations into its batches, its actions into the world's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.policies.conventions.conversion import wire_images, wire_state, world_actions
from heedful.policies.conventions.model import Conventions
from heedful.policies.lerobot.checkpoint import WORDLESS, Checkpoint
from heedful.policies.lerobot.loading import ONE_AT_A_TIME, Loaded
from heedful.policies.lerobot.reference import TASK
from heedful.spec.contract import Observation, PolicyContract
from heedful.spec.errors import UserError
from heedful.spec.seams import Start

F64 = NDArray[np.float64]

ALIKE = ("act",)
"""Types that draw no random numbers: episodes may go through the network side by side."""

QUEUED = ("diffusion",)
"""Types whose ``predict_action_chunk`` takes training batches only: their queue is emptied instead."""


@dataclass(eq=False)
class Session:
    """One episode under way.

    Attributes:
        words: The instruction as it stands in every batch.
        random: The states of torch's random numbers on the CPU and on the device; every episode has
            its own, so that it repeats whatever runs beside it.
        read: The instruction as the pre-processor left it at the last look; empty if it is gone by then.
    """

    words: str
    random: list[Any] = field(default_factory=list)
    read: str = ""


class LeRobotPolicy:
    """A policy that looks at every step; LeRobot itself keeps its history and its queues."""

    def __init__(self, checkpoint: Checkpoint, conventions: Conventions, loaded: Loaded) -> None:
        self.checkpoint = checkpoint
        self.conventions = conventions
        self._loaded = loaded
        self._session: Session | None = None

    @property
    def contract(self) -> PolicyContract:
        """What the conventions ask of a world."""
        return self.conventions.contract()

    @property
    def identity(self) -> str:
        """A digest of the files that it was loaded from, whatever is in the folder now."""
        return self._loaded.digest

    @property
    def ignores_words(self) -> bool:
        """It never reads the instruction: it does the same whatever is asked."""
        return self.checkpoint.kind in WORDLESS

    @property
    def read(self) -> str:
        """The instruction as the pre-processor left it at the last look; empty if it is gone by then."""
        return "" if self._session is None else self._session.read

    def reset(self, start: Start) -> str:
        """Begin an episode and return the instruction as it stands in the batch."""
        with ONE_AT_A_TIME:
            self._loaded.network.reset()
            self._loaded.before.reset()
            self._loaded.after.reset()
        self._session, received = self._begun(start)
        return received

    def act(self, observation: Observation) -> F64:
        """Return the next actions, [T, A], as the world takes them."""
        return world_actions(self.conventions, self.ask(observation), observation)

    def ask(self, observation: Observation) -> F64:
        """Return the next actions, [T, A], in the checkpoint's own units."""
        if self._session is None:
            raise UserError("A LeRobot policy must be reset before it acts.")
        actions: F64 = self._answers([self._session], [observation])[0]
        return actions

    def _begun(self, start: Start) -> tuple[Session, str]:
        session = Session(start.instruction)
        with ONE_AT_A_TIME, self._drawing(session):
            _seed(start.seed)
        return session, session.words

    def _answers(self, sessions: Sequence[Session], observations: Sequence[Observation]) -> F64:
        """Return the actions [B, T, A] of episodes, each at whatever step."""
        import torch

        network = self._loaded.network
        with ONE_AT_A_TIME, torch.inference_mode(), self._precision(), self._drawing(*sessions):
            batch = self._loaded.before(self._batch(sessions, observations))
            for i, session in enumerate(sessions):
                session.read = _words(batch.get(TASK), i)
            if self.checkpoint.chunked:
                found = self._loaded.after(self._chunk(batch))
            else:
                found = self._loaded.after(network.select_action(batch))[:, None]
        actions: F64 = found.to("cpu", torch.float64).numpy()
        return actions

    def _chunk(self, batch: dict[str, Any]) -> Any:
        """Return actions [B, T, A] before they are post-processed."""
        import torch

        network = self._loaded.network
        if self.checkpoint.kind not in QUEUED:
            return network.predict_action_chunk(batch)
        network.reset()
        return torch.stack([network.select_action(batch) for _ in range(self.checkpoint.executed)], dim=1)

    def _batch(self, sessions: Sequence[Session], observations: Sequence[Observation]) -> dict[str, Any]:
        """Return what goes into the pre-processor, made as ``lerobot-eval`` makes it."""
        import torch

        pictures = [wire_images(self.conventions, observation) for observation in observations]
        states = [wire_state(self.conventions, observation) for observation in observations]
        batch: dict[str, Any] = {TASK: [session.words for session in sessions]}
        for key in self.conventions.cameras:
            images = torch.from_numpy(np.stack([picture[key] for picture in pictures]))
            batch[key] = images.permute(0, 3, 1, 2).contiguous().type(torch.float32) / 255
        for key in self.conventions.state:
            batch[key] = torch.from_numpy(np.stack([state[key] for state in states])).float()
        return batch

    @contextmanager
    def _drawing(self, *sessions: Session) -> Iterator[None]:
        """Let torch draw a session's own random numbers; those of the process stay as they are."""
        import torch

        cuda = [self._loaded.device] if self._loaded.device.startswith("cuda") else []
        with torch.random.fork_rng(devices=cuda):
            if len(sessions) == 1 and sessions[0].random:
                torch.set_rng_state(sessions[0].random[0])
                if cuda:
                    torch.cuda.set_rng_state(sessions[0].random[1], cuda[0])
            yield
            if len(sessions) == 1:
                sessions[0].random = [torch.get_rng_state(), *map(torch.cuda.get_rng_state, cuda)]

    @contextmanager
    def _precision(self) -> Iterator[None]:
        """Compute in mixed precision if the checkpoint says so, as ``lerobot-eval`` does."""
        import torch

        kind = self._loaded.device.partition(":")[0]
        with torch.autocast(kind, enabled=bool(self._loaded.network.config.use_amp)):
            yield


class ChunkingPolicy(LeRobotPolicy):
    """A policy that answers a look with a chunk and remembers nothing: episodes may share its weights."""

    def begin(self, start: Start) -> tuple[Session, str]:
        """Begin an episode beside others."""
        return self._begun(start)

    def act_many(self, sessions: Sequence[Session], observations: Sequence[Observation]) -> list[F64]:
        """Return the next actions, [T, A], of every session; policies that draw go one by one."""
        if self.checkpoint.kind in ALIKE:
            chunks = list(self._answers(sessions, observations))
        else:
            chunks = self._one_by_one(sessions, observations)
        return [
            world_actions(self.conventions, chunk, seen)
            for chunk, seen in zip(chunks, observations, strict=True)
        ]

    def _one_by_one(self, sessions: Sequence[Session], observations: Sequence[Observation]) -> list[F64]:
        drawn = [session.random for session in sessions]
        try:
            pairs = zip(sessions, observations, strict=True)
            return [self._answers([session], [seen])[0] for session, seen in pairs]
        except BaseException:  # they are asked again, and then draw the same
            for session, before in zip(sessions, drawn, strict=True):
                session.random = before
            raise


def _seed(seed: int) -> None:
    import torch

    torch.manual_seed(seed)


def _words(task: object, index: int) -> str:
    if isinstance(task, list) and index < len(task) and isinstance(task[index], str):
        return str(task[index])
    return task if isinstance(task, str) else ""
