"""A training in progress: one optimizer step after another, and its state as bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from heedful.policies.reference import checkpoint
from heedful.policies.reference.batches import batch_loss
from heedful.policies.reference.config import PolicyConfig
from heedful.policies.reference.samples import Samples
from heedful.spec.seeds import generator

_WARM_UP = 0.1


class Learner:
    """A network, its optimizer, and how many steps were taken.

    Every draw depends on the seed and the step alone, so network, optimizer and ``step`` are
    the whole state.
    """

    def __init__(self, described: PolicyConfig, samples: Samples) -> None:
        self._described, self._samples, self._config = described, samples, described.training
        with torch.random.fork_rng(devices=[]):
            # Layers draw their initial weights from torch's global state; keep ours out of it.
            torch.manual_seed(described.seed)
            self.network = checkpoint.build(described)
        self.network.train()
        self._optimizer = torch.optim.AdamW(
            self.network.parameters(), self._config.learning_rate, weight_decay=self._config.weight_decay
        )
        self._prepared = self.network.encoder.prepare(samples.texts)
        self.step = 0

    def advance(self) -> float:
        """Take one optimizer step and return its loss."""
        rng = generator(self._described.seed, "reference", "batch", self.step)
        for group in self._optimizer.param_groups:
            group["lr"] = self._config.learning_rate * one_cycle(self.step, self._config.steps)
        loss = batch_loss(self.network, self._samples, self._prepared, self._config, self.step, rng)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self._optimizer.step()
        self.step += 1
        return float(loss.detach())

    def state(self, said: Mapping[str, Any]) -> bytes:
        """Return the whole state as a safetensors file, ``said`` (JSON data) in its header."""
        tensors = {f"network.{name}": value for name, value in self.network.state_dict().items()}
        for index, moments in self._optimizer.state_dict()["state"].items():
            tensors.update({f"optimizer.{index}.{name}": value for name, value in moments.items()})
        header = json.dumps({**said, "step": self.step})
        return save_tensors({k: v.contiguous() for k, v in tensors.items()}, {"about": header})

    def restore(self, content: bytes) -> None:
        """Take up the state in ``content``.

        Raises:
            ValueError: ``content`` is no state of this network.
        """
        try:
            tensors = load_tensors(content)
            self.network.load_state_dict(
                {k.removeprefix("network."): v for k, v in tensors.items() if k.startswith("network.")}
            )
            moments: dict[int, dict[str, Tensor]] = {}
            for key, value in tensors.items():
                if key.startswith("optimizer."):
                    _, index, name = key.split(".", 2)
                    moments.setdefault(int(index), {})[name] = value
            self._optimizer.load_state_dict({**self._optimizer.state_dict(), "state": moments})
            self.step = int(about(content)["step"])
        except (SafetensorError, KeyError, TypeError, RuntimeError) as error:
            raise ValueError(str(error)) from error


def about(content: bytes) -> dict[str, Any]:
    """Return what ``Learner.state`` was told to say about the state in ``content``.

    Raises:
        ValueError: ``content`` is no such state.
    """
    size = int.from_bytes(content[:8], "little")  # a safetensors file: length, JSON header, tensors
    try:
        said: dict[str, Any] = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["about"])
    except (KeyError, TypeError) as error:
        raise ValueError("no header") from error
    return said


def one_cycle(step: int, steps: int) -> float:
    """Return the share of the peak learning rate: a linear rise, then half a cosine down."""
    rise = max(1.0, _WARM_UP * steps)
    if step < rise:
        return 0.04 + 0.96 * step / rise
    return 0.5 * (1 + math.cos(math.pi * (step - rise) / max(1.0, steps - rise)))
