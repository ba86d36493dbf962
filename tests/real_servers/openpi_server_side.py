"""Run with an interpreter that has openpi-client: a server with its codec for our client.

The package ships no server; this one speaks as openpi's own does: metadata first, then an
answer to every observation, a traceback as a text frame when something fails. Prints its
port, then one line of JSON for every observation.
"""

import hashlib
import json
import traceback

import numpy as np
from openpi_client import msgpack_numpy
from websockets.sync.server import serve


def handle(connection):
    connection.send(msgpack_numpy.packb({"robot": "libero"}))
    for data in connection:
        try:
            observation = msgpack_numpy.unpackb(data)
            seen = {}
            for key, value in observation.items():
                if isinstance(value, np.ndarray):
                    digest = hashlib.sha256(value.tobytes()).hexdigest()
                    seen[key] = [str(value.dtype), list(value.shape), digest]
                else:
                    seen[key] = value
            print(json.dumps(seen), flush=True)
            if observation["prompt"] == "fail":
                raise ValueError("no such prompt")
            actions = np.tile(np.float32([0.5, 0, -0.25, 0, 0, 0.1, -1]), (10, 1))
            connection.send(msgpack_numpy.packb({"actions": actions, "policy_timing": {"infer_ms": 1.0}}))
        except Exception:
            connection.send(traceback.format_exc())
            connection.close(1011, "Internal server error")


with serve(handle, "127.0.0.1", 0, compression=None, max_size=None) as server:
    print(server.socket.getsockname()[1], flush=True)
    server.serve_forever()
