"""Run with an interpreter that has vla-eval: its own connection and runner ask our server.

``PORT``; prints JSON.
"""

import json
import sys

import anyio
import numpy as np
from vla_eval.benchmarks.base import StepBenchmark, StepResult
from vla_eval.connection import Connection
from vla_eval.protocol import numpy_codec
from vla_eval.runners.sync_runner import SyncEpisodeRunner
from vla_eval.specs import DimSpec

SIZES = {"agent": (24, 32, 3), "wrist": (16, 16, 3)}


class Still(StepBenchmark):
    """Nothing moves; it remembers the actions."""

    def __init__(self):
        super().__init__()
        self.actions = []
        rng = np.random.default_rng(0)
        self.images = {name: rng.integers(0, 256, size, dtype=np.uint8) for name, size in SIZES.items()}
        self.states = rng.normal(size=16)

    def get_tasks(self):
        return [{"name": "red", "suite": "still"}]

    def reset(self, task):
        self.actions.append([])
        return 0

    def step(self, action):
        self.actions[-1].append(np.asarray(action["actions"]).tolist())
        return StepResult(obs=0, reward=0.0, done=False, info={})

    def make_obs(self, raw_obs, task):
        return {"images": self.images, "task_description": task["name"], "states": self.states}

    def get_step_result(self, step_result):
        return {"success": False}


async def main():
    benchmark = Still()
    async with Connection(f"ws://127.0.0.1:{sys.argv[1]}", timeout=10, max_retries=1) as connection:
        for image_format in ("png", "raw"):
            numpy_codec.set_image_format(image_format)
            task = benchmark.get_tasks()[0]
            await SyncEpisodeRunner().run_episode(benchmark, task, connection, max_steps=15)
        try:
            await connection.act({"images": {}, "task_description": "red"})
            refused = ""
        except RuntimeError as error:
            refused = str(error)
        numpy_codec.set_image_format("jpeg")  # lossy: an answer is all that can be asked for
        await connection.start_episode({"task": {"name": "red"}})
        jpeg = await connection.act(benchmark.make_obs(0, {"name": "red"}))
        info = connection.server_info
    specs = [DimSpec.from_dict(of).format for of in info["action_spec"].values()]
    print(
        json.dumps(
            {"actions": benchmark.actions, "jpeg": len(jpeg["actions"]), "refused": refused, "specs": specs}
        )
    )


anyio.run(main)
