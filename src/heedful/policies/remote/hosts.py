"""What our server says to one client, in the words of openpi or of vla-eval."""

from __future__ import annotations

import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heedful import __version__
from heedful.policies.conventions.model import MODES, Conventions
from heedful.policies.remote import arrays
from heedful.policies.remote.announcement import KEY
from heedful.policies.remote.connection import shown
from heedful.policies.remote.hosted import BadRequest, HostedPolicy

if TYPE_CHECKING:
    from websockets.sync.server import ServerConnection

Told = Callable[[str], None]
"""Told one line about everything that went wrong."""

_INTERNAL_ERROR = 1011
_LONGEST_LINE = 300
_ABSOLUTE = ("absolute_xyz", "euler_xyz_from_pointing_down")  # vla-eval's euler_xyz is pi about x there


def host_openpi(socket: ServerConnection, hosted: HostedPolicy, offer: Mapping[str, Any], tell: Told) -> None:
    """Serve one client of openpi's protocol until it leaves.

    openpi has no reset message. An episode begins with the connection, with other words, or
    when an observation says ``reset: True``. A failure is answered by a text frame with the
    traceback, as openpi's own server does, and the connection is closed.

    Args:
        socket: The client's connection.
        hosted: The policy.
        offer: What stands under ``KEY`` in the metadata.
        tell: Told what went wrong.
    """
    socket.send(arrays.pack({KEY: dict(offer)}, "openpi"))
    for data in socket:
        try:
            answer = arrays.pack(_openpi_answer(hosted, data), "openpi")
        except Exception as error:
            tell(_line(error))
            socket.send(f"heedful: {_line(error)}" if _is_request(error) else traceback.format_exc())
            socket.close(_INTERNAL_ERROR, "the frame before this one says what is wrong")
            return
        socket.send(answer)


def _openpi_answer(hosted: HostedPolicy, data: bytes | str) -> dict[str, Any]:
    begun = time.perf_counter()
    asked = arrays.unpack(_binary(data), "openpi")
    words, ours = asked.get(hosted.conventions.prompt), asked.get(KEY)
    extra: dict[str, Any] = ours if isinstance(ours, dict) else {}
    if hosted.words is None or words != hosted.words or asked.get("reset") is True:
        hosted.begin(words, extra.get("seed", 0))
    if extra:
        actions = hosted.chunk(asked, asked, extra.get("step"))
    else:
        actions = hosted.chunk_or_hold(asked, asked)
    spent_ms = (time.perf_counter() - begun) * 1000
    answer: dict[str, Any] = {"actions": actions, "server_timing": {"infer_ms": spent_ms}}
    if extra:
        answer[KEY] = {"instruction": hosted.words, "done": not len(actions)}
        hosted.rest()
    return answer


def host_vla_eval(
    socket: ServerConnection, hosted: HostedPolicy, offer: Mapping[str, Any], tell: Told
) -> None:
    """Serve one client of vla-eval's protocol until it leaves; see ``host_openpi``.

    vla-eval's benchmarks execute one action a message, so they are given chunks one by one;
    our own client takes whole chunks. A failure is answered by an error message, and the
    connection stays open, as vla-eval's own server does it.
    """
    episode = _VlaEvalEpisode(hosted, offer)
    for data in socket:
        seq: object = 0
        try:
            message = arrays.unpack(_binary(data), "vla-eval")
            seq = message.get("seq", 0)
            kind, answer = episode.answer(message)
            reply = _vla_eval(kind, answer, seq) if kind else b""
        except Exception as error:
            tell(_line(error))
            reply = _vla_eval("error", {"error": _line(error)}, seq)
        if reply:
            socket.send(reply)


class _VlaEvalEpisode:
    """What is known of the client's episode from one message to the next."""

    def __init__(self, hosted: HostedPolicy, offer: Mapping[str, Any]) -> None:
        self._hosted, self._offer = hosted, offer
        self._waiting: deque[NDArray[np.float64]] = deque()
        self._ours = False

    def answer(self, message: Mapping[Any, Any]) -> tuple[str, Mapping[str, Any]]:
        """Return type and payload of the reply to ``message``; an empty type: it has none."""
        kind, payload = message.get("type"), message.get("payload")
        if not isinstance(payload, dict):
            raise BadRequest(f"the payload is a {type(payload).__name__}, not a map")
        if kind == "hello":
            return "hello", _hello(self._hosted.conventions, self._offer)
        if kind == "episode_start":
            self._waiting.clear()
            extra = payload.get(KEY)
            self._ours = isinstance(extra, dict)
            self._hosted.begin(_task_words(payload), extra.get("seed", 0) if isinstance(extra, dict) else 0)
        elif kind == "observation":
            if self._ours:
                return "action", _whole_chunk(self._hosted, payload)
            return "action", {"actions": _one_action(self._hosted, payload, self._waiting)}
        elif kind not in ("episode_end", "error"):
            raise BadRequest(f"the message is of the type {str(kind)[:40]!r}")
        return "", {}


def _task_words(payload: Mapping[str, Any]) -> object:
    task = payload.get("task")
    return task.get("name", "") if isinstance(task, dict) else ""


def _whole_chunk(hosted: HostedPolicy, payload: Mapping[str, Any]) -> dict[str, Any]:
    extra = payload.get(KEY)
    step = extra.get("step") if isinstance(extra, dict) else None
    words = payload.get(hosted.conventions.prompt)
    if words != hosted.words:
        raise BadRequest(f"the observation says {words!r}, the episode's start said {hosted.words!r}")
    actions = hosted.chunk(_pictures(payload), payload, step)
    hosted.rest()
    return {"actions": actions, KEY: {"instruction": words, "done": not len(actions)}}


def _one_action(
    hosted: HostedPolicy, payload: Mapping[str, Any], waiting: deque[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the next action [A]; the instruction in the observation counts, which benchmarks repeat."""
    words = payload.get(hosted.conventions.prompt, hosted.words)
    if hosted.words is None or words != hosted.words:
        waiting.clear()
        hosted.begin(words)
    if not waiting:
        chunk = hosted.chunk_or_hold(_pictures(payload), payload)
        waiting.extend(chunk[: hosted.conventions.replan])
    return waiting.popleft()


def _pictures(payload: Mapping[str, Any]) -> dict[str, Any]:
    images = payload.get("images", {})
    if not isinstance(images, dict):
        raise BadRequest(f"images is a {type(images).__name__}, not a map of names to pictures")
    return images


def _hello(conventions: Conventions, offer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payload of the hello, with what vla-eval's orchestrator compares and configures."""
    gripper = {"name": "gripper", "dims": 1, "format": "continuous_01", "range": [0.0, 1.0]}
    if MODES[conventions.action] == "joint_absolute":
        actions = {"joints": {"name": "joints", "dims": 7, "format": "absolute_joint_positions"}}
    else:
        change, turn = ("delta_xyz", "euler_xyz") if conventions.action == "ee_delta" else _ABSOLUTE
        actions = {
            "position": {"name": "position", "dims": 3, "format": change},
            "rotation": {"name": "rotation", "dims": 3, "format": turn},
        }
    seen = {name: {"name": "image", "dims": 0, "format": "rgb_hwc_uint8"} for name in conventions.cameras}
    return {
        "harness_version": f"heedful {__version__}",
        "protocol_version": 1,
        "model_server": "heedful",
        "capabilities": {},
        "action_spec": {**actions, "gripper": gripper},
        "observation_spec": {**seen, "language": {"name": "language", "dims": 0, "format": "language"}},
        KEY: dict(offer),
    }


def _vla_eval(kind: str, payload: Mapping[str, Any], seq: object) -> bytes:
    number = seq if isinstance(seq, int) else 0
    return arrays.pack(
        {"type": kind, "payload": payload, "seq": number, "timestamp": time.time()}, "vla-eval"
    )


def _binary(data: bytes | str) -> bytes:
    if isinstance(data, str):
        raise BadRequest("the message is a text frame; msgpack comes in binary frames")
    return data


def _is_request(error: Exception) -> bool:
    return isinstance(error, BadRequest | arrays.BadMessage)


def _line(error: Exception) -> str:
    """Return what went wrong in a line for a terminal, whatever a client wrote into it."""
    text = shown(" ".join(str(error).split()), _LONGEST_LINE)
    return text if _is_request(error) else f"{type(error).__name__}: {text}"


HOSTS = {"openpi": host_openpi, "vla-eval": host_vla_eval}
"""Protocol -> how a client of it is served."""
