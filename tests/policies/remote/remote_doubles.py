"""A policy that needs all that it is shown, so that nothing can get lost on the way unnoticed."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from heedful.spec.contract import ActionMode, CameraContract, Observation, PolicyContract
from heedful.spec.seams import Start

MODES: dict[str, ActionMode] = {"delta": "ee_delta", "absolute": "ee_absolute", "joint": "joint_absolute"}


class Looking:
    """Its actions depend on every pixel, number, word, seed and step; done after four looks.

    ``kind`` is the action mode, or how it fails: ``raise``, ``reset``.
    """

    def __init__(self, kind: str = "absolute") -> None:
        self.kind = kind
        self.contract = PolicyContract(
            cameras=(CameraContract("agent", 24, 32), CameraContract("wrist", 16, 16)),
            action_mode=MODES.get(kind, "ee_absolute"),
            control_hz=20.0,
            replan_steps=3,
        )
        self.looks = 0

    def reset(self, start: Start) -> str:
        if self.kind == "reset":
            raise RuntimeError("no such task")
        self.looks = 0
        self.key = zlib.crc32(f"{start.instruction}|{start.seed}".encode())
        return start.instruction

    def act(self, observation: Observation) -> NDArray[np.float64]:
        if self.kind == "raise":
            raise ValueError("the model is\nbroken")
        self.looks += 1
        width = 8 if self.contract.action_mode == "joint_absolute" else 7
        if self.looks > 4:
            return np.zeros((0, width))
        seen = b"".join(image.tobytes() for image in observation.images_hwc_u8.values())
        seen += observation.proprioception.tobytes() + observation.joint_state.tobytes()
        rng = np.random.default_rng([self.key, zlib.crc32(seen), observation.step])
        return rng.normal(0.4, 0.1, (5, width))


def make(kind: str = "absolute") -> Looking:
    """Return the policy; ``python:remote_doubles:make:KIND``."""
    return Looking(kind)


def blind() -> Looking:
    """Return one that declares to read the world's state."""
    policy = Looking()
    policy.contract = PolicyContract((), "ee_absolute", 20.0, privileged_state=True)
    return policy
