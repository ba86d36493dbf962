"""Servers with one convention misunderstood each, checked on a real scene."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from websockets.sync.server import ServerConnection, serve

import heedful.policies.remote
from heedful.policies.remote.arrays import pack, unpack
from heedful.spec.contract import CameraContract, Observation, PolicyContract
from heedful.spec.errors import UserError
from heedful.spec.seams import Start
from heedful.workflows.checking import check_policy

sys.path.append(str(Path(__file__).parents[1] / "policies" / "remote"))
UP = np.tile([0.0, 0.0, 0.4, 0.0, 0.0, 0.0, -1.0], (10, 1))
Serving = Callable[[np.ndarray], str]


@pytest.fixture
def serving() -> Iterator[Serving]:
    """Return what starts an openpi server that always answers the same and returns its address."""
    heedful.policies.remote._greetings.clear()
    with ExitStack() as running:

        def start(actions: np.ndarray) -> str:
            def handle(connection: ServerConnection) -> None:
                connection.send(pack({"model": "pi"}, "openpi"))
                for message in connection:
                    assert set(unpack(message, "openpi")) >= {"prompt"}
                    connection.send(pack({"actions": actions}, "openpi"))

            server = serve(handle, "127.0.0.1", 0, compression=None, max_size=None)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            running.callback(server.shutdown)
            return f"openpi://127.0.0.1:{server.socket.getsockname()[1]}"

        yield start


def test_a_server_that_fits_is_shown_one_real_observation(serving: Serving, tmp_path: Path) -> None:
    found = check_policy(f"{serving(UP)}?preset=openpi-libero", pictures=tmp_path / "seen")
    assert found.wrong == [] and found.advice == ()
    assert [line.what for line in found.lines if line.outcome == "look"] == ["orientation of pictures"]
    assert found.metadata == {"model": "'pi'"}
    assert [part.key for part in found.sent] == [
        "observation/image",
        "observation/wrist_image",
        "observation/state",
        "prompt",
    ]
    assert [part.picture.name for part in found.sent if part.picture] == [
        "observation_image.png",
        "observation_wrist_image.png",
    ]
    assert found.sent[-1].content.startswith("'")
    assert (found.chunk, found.answer[2].name, found.answer[2].low) == (10, "z", 0.4)
    assert "flip=horizontal" in found.notes[0]


def test_the_picture_that_was_saved_is_the_one_that_went_out(serving: Serving, tmp_path: Path) -> None:
    from PIL import Image

    upright, turned = tmp_path / "upright", tmp_path / "turned"
    ref = f"{serving(UP)}?preset=openpi-libero&size=96"
    check_policy(ref, pictures=upright)
    check_policy(f"{ref}&flip=both", pictures=turned)
    one, other = (np.array(Image.open(folder / "observation_image.png")) for folder in (upright, turned))
    assert one.shape == (96, 96, 3) and not np.array_equal(one, other)
    assert np.array_equal(one[::-1, ::-1], other)


@pytest.mark.parametrize(
    ("actions", "changes", "said", "option"),
    [
        (np.zeros((10, 8)), "", "An action holds 8 numbers; ee_delta needs 7", "joint_absolute"),
        (UP * np.nan, "", "not finite", ""),
        (np.zeros((0, 7)), "", "no action at all", ""),
        (UP, "&gripper=close_one", "from -1.00 to -1.00; close_one has 0 to 1", "gripper=close_positive"),
        (UP, "&action=ee_absolute&scale_m=1", "may be scaled changes", "action=ee_delta&scale_m=0.05"),
        (UP, "&rate=10", "", ""),
    ],
)
def test_what_does_not_fit_is_said_with_the_option_that_mends_it(
    serving: Serving, actions: np.ndarray, changes: str, said: str, option: str
) -> None:
    found = check_policy(f"{serving(actions)}?preset=openpi-libero{changes}")
    if changes == "&rate=10":
        assert found.sent == ()  # contracts that do not fit: nothing is asked
        assert found.wrong == ["rate: heedful takes for granted 10 Hz; the world: 20 Hz. Mend: rate=20."]
        return
    assert [one for one in found.advice if said in one.line and option in one.option]


def test_a_server_that_does_not_answer_is_an_error_and_not_a_crash(serving: Serving) -> None:
    found = check_policy(f"{serving(np.zeros((1, 1, 1)))}?preset=openpi-libero")
    assert found.wrong == [found.error] and "not numbers" in found.error


@pytest.mark.parametrize(
    ("ref", "outcome"),
    [
        ("planted:color>object>spatial>verb>size", []),
        ("python:remote_doubles:make:raise", ["ValueError: the model is broken"]),
    ],
)
def test_any_policy_is_asked_once(ref: str, outcome: list[str], tmp_path: Path) -> None:
    found = check_policy(ref, pictures=tmp_path)
    assert found.wrong == outcome
    assert bool(found.chunk) == (not outcome)


class Lying:
    """Declares changes of the tool pose and answers ``ANSWERS[kind]``."""

    contract = PolicyContract((CameraContract("agent", 64, 64),), "ee_delta", 20.0)

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def reset(self, start: Start) -> str:
        return "something else" if self.kind == "words" else start.instruction

    def act(self, observation: Observation) -> object:
        return ANSWERS[self.kind]


GOAL = np.array([[0.4, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]])
ANSWERS = {
    "absolute": GOAL,
    "words": GOAL * 0.01 + [0, 0, 0, 0, 0, 0, 1],
    "done": [],
    "none": None,
    "text": "up",
    "objects": np.array([[object()] * 7]),
    "wide": np.zeros((5, 8)),
    "one": np.zeros(7),
    "nan": GOAL * np.nan,
}


@pytest.mark.parametrize(
    ("kind", "wrong", "doubtful"),
    [
        ("absolute", "", "the numbers look like a place near the tool"),
        ("words", "", "says that it was told 'something else'; the case says '"),
        ("done", "", "returned no action, which means that it is done"),
        ("none", "returned", ""),
        ("text", "returned no numbers", ""),
        ("objects", "returned no numbers", ""),
        ("wide", r"shape \[5, 8\]; ee_delta needs", ""),
        ("one", r"shape \[7\]; ee_delta needs", ""),
        ("nan", "all must be finite", ""),
    ],
)
def test_a_policy_whose_contract_lies_is_found_out(
    kind: str, wrong: str, doubtful: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heedful.policies.references.load", lambda ref: Lying(kind))
    found = check_policy("python:lying")
    assert [bool(re.search(wrong, line)) for line in found.wrong] == [True] * bool(wrong)
    assert [doubtful in one.line for one in found.advice] == [True] * bool(doubtful)


def test_pictures_that_cannot_be_written_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="Cannot write"):
        check_policy("python:remote_doubles:make", pictures=tmp_path / "file")
