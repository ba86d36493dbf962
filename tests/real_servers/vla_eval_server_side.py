"""Run with an interpreter that has vla-eval: its own server base class for our client.

Prints its port, then one line of JSON for every observation.
"""

import hashlib
import json
import threading

import numpy as np
from vla_eval.api import serve_background
from vla_eval.model_servers.predict import PredictModelServer
from vla_eval.specs import (
    GRIPPER_CLOSE_POS,
    IMAGE_RGB,
    LANGUAGE,
    POSITION_DELTA,
    ROTATION_AA,
    STATE_EEF_POS_AA_GRIP,
)


class Up(PredictModelServer):
    """Goes up; chunks of four, handed out one by one by the base class."""

    def get_action_spec(self):
        return {"position": POSITION_DELTA, "rotation": ROTATION_AA, "gripper": GRIPPER_CLOSE_POS}

    def get_observation_spec(self):
        return {"agentview": IMAGE_RGB, "state": STATE_EEF_POS_AA_GRIP, "language": LANGUAGE}

    def get_observation_params(self):
        return {"send_wrist_image": True, "send_state": True}

    async def on_episode_start(self, config, ctx):
        await super().on_episode_start(config, ctx)
        print(json.dumps({"episode_start": config}), flush=True)

    def predict(self, obs, ctx):
        seen = {}
        for key, value in {**obs["images"], "states": obs["states"]}.items():
            digest = hashlib.sha256(value.tobytes()).hexdigest()
            seen[key] = [str(value.dtype), list(value.shape), digest]
        print(json.dumps({**seen, "task_description": obs["task_description"]}), flush=True)
        if obs["task_description"] == "fail":
            raise ValueError("no such task")
        heights = np.arange(4, dtype=np.float32) / 8
        return {"actions": np.stack([[0, 0, h, 0, 0, 0.1, -1] for h in heights])}


with serve_background(Up(chunk_size=4)) as handle:
    print(handle.port, flush=True)
    threading.Event().wait()
