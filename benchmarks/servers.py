"""Milliseconds of one look at two pictures: the policy here, and behind a server on this machine.

    OMP_NUM_THREADS=1 python benchmarks/servers.py [POLICY]

POLICY, such as reference:policies/co, is served in a process of its own; without it, a policy that
answers at once shows what the way alone costs. Rendering the two pictures stands beside it. Rows are
interleaved, and the best of several rounds is kept.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.policies.conventions.conversion import wire_images, wire_state
from heedful.policies.references import load
from heedful.policies.remote.arrays import pack, unpack
from heedful.policies.remote.pictures import png_bytes
from heedful.policies.remote.sessions import words_in
from heedful.spec.contract import CameraContract, Observation, PolicyContract
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.spec.seams import Start
from heedful.worlds.tabletop import make as make_world

ROUNDS, LOOKS, SIZE_PX = 7, 20, 224
SCENE = SceneSpec((ObjectSpec("a", "cube", "red"), ObjectSpec("b", "sphere", "blue")))
AT_ONCE = "python:servers:make"


class AtOnce:
    """Answers ten actions without thinking."""

    contract = PolicyContract(
        (CameraContract("agent", SIZE_PX, SIZE_PX), CameraContract("wrist", SIZE_PX, SIZE_PX)),
        "ee_delta",
        20.0,
    )

    def reset(self, start: Start) -> str:
        """Begin an episode."""
        return start.instruction

    def act(self, observation: Observation) -> NDArray[np.float64]:
        """Return actions [10, 7]."""
        return np.zeros((10, 7))


def make() -> AtOnce:
    """Return the policy of ``python:servers:make``."""
    return AtOnce()


def served(policy: str, protocol: str, stack: ExitStack) -> str:
    """Serve ``policy`` in a process of its own until ``stack`` ends; return the reference."""
    command = [sys.executable, "-m", "heedful", "serve", "--policy", policy, "--protocol", protocol]
    process = subprocess.Popen(
        [*command, "--port", "0", "--json"], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent
    )
    stack.callback(process.wait)
    stack.callback(process.terminate)
    assert process.stdout is not None
    return str(json.loads(process.stdout.readline())["url"])


def begun(policy: Any) -> Any:
    """Return ``policy`` at the beginning of an episode, behind a server with a connection of its own."""
    policy.reset(Start("grasp the red cube"))
    return policy


def ms(do: Callable[[], object]) -> float:
    """Return milliseconds a call."""
    start = perf_counter()
    for _ in range(LOOKS):
        do()
    return (perf_counter() - start) / LOOKS * 1000


def main(ref: str) -> None:
    """Print the table."""
    with ExitStack() as stack:
        policies: dict[str, Any] = {"here": load(ref)}
        for protocol in ("openpi", "vla-eval"):
            policies[f"behind {protocol}"] = load(served(ref, protocol, stack))
        cameras = policies["here"].contract.cameras
        world = make_world()
        world.reset(SCENE, 0, policies["here"].contract.action_mode)
        seen = world.observe(cameras)
        rows: dict[str, Callable[[], object]] = {}
        for name, policy in policies.items():
            rows[f"first look, {name}"] = lambda policy=policy: begun(policy).act(seen)  # type: ignore[misc]
        for name, policy in policies.items():
            rows[f"next look, {name}"] = lambda policy=policy: policy.act(seen)  # type: ignore[misc]
        conventions = policies["behind openpi"].conventions
        observation = {**wire_images(conventions, seen), **wire_state(conventions, seen), "prompt": "red"}
        message = pack(observation, "openpi")
        rows["  of it: pictures and states as they go out"] = lambda: (
            wire_images(conventions, seen),
            wire_state(conventions, seen),
        )
        rows["  of it: encoding"] = lambda: pack(observation, "openpi")
        rows["  of it: the words decoded from the message"] = lambda: words_in(message, "openpi", ("prompt",))
        rows["  of it: decoding on the other side"] = lambda: unpack(message, "openpi")
        pictures = list(wire_images(conventions, seen).values())
        files = [{"__image__": True, "format": "png", "data": png_bytes(image)} for image in pictures]
        as_png = pack({"images": files}, "vla-eval")
        rows["decoding as PNG, which vla-eval's clients send"] = lambda: unpack(as_png, "vla-eval")
        rows["encoding as PNG, which heedful does not do"] = lambda: [png_bytes(image) for image in pictures]
        rows["rendering the pictures"] = lambda: world.observe(cameras)
        best = dict.fromkeys(rows, float("inf"))
        for _ in range(ROUNDS):
            for name, do in rows.items():
                best[name] = min(best[name], ms(do))
        for policy in policies.values():
            if hasattr(policy, "close"):
                policy.close()
    size = f"{len(message) / 1e3:.0f} kB, as PNG {len(as_png) / 1e3:.0f} kB"
    print(f"{ref}: {len(cameras)} pictures of {cameras[0].height_px} px, {size}")
    for name, spent in best.items():
        look, _, where = name.partition(", ")
        here = best.get(f"{look}, here", 0.0)
        ratio = f"{spent / here:6.2f} x" if where.startswith("behind") and here > 0.1 else ""
        print(f"{name:48} {spent:8.2f} ms  {ratio}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else AT_ONCE)
