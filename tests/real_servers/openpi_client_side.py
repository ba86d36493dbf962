"""Run with an interpreter that has openpi-client: its own client asks our server. ``PORT``; prints JSON."""

import json
import sys

import numpy as np
from openpi_client import action_chunk_broker, websocket_client_policy

SIZES = {"observation/agent": (24, 32, 3), "observation/wrist": (16, 16, 3)}

client = websocket_client_policy.WebsocketClientPolicy("127.0.0.1", int(sys.argv[1]))
rng = np.random.default_rng(0)
observation = {key: rng.integers(0, 256, size, dtype=np.uint8) for key, size in SIZES.items()}
observation.update({"observation/state": rng.normal(size=16), "prompt": "red"})

chunk = client.infer(observation)["actions"]
again = client.infer({**observation, "reset": True})["actions"]
broker = action_chunk_broker.ActionChunkBroker(client, action_horizon=5)
one_by_one = [broker.infer({**observation, "prompt": "blue"})["actions"].tolist() for _ in range(5)]
try:
    client.infer({**observation, "observation/state": np.zeros(3)})
    refused = ""
except RuntimeError as error:
    refused = str(error)
print(
    json.dumps(
        {
            "metadata": client.get_server_metadata(),
            "dtype": str(chunk.dtype),
            "chunk": chunk.tolist(),
            "again": again.tolist(),
            "one_by_one": one_by_one,
            "refused": refused,
        }
    )
)
