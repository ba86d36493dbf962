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
from heedful.rollouts.watch import Limits
from heedful.spec.errors import UserError
from heedful.workflows.checking import PolicyCheck, check_policy, pictures_folder
from heedful.workflows.checking.asking import STEPS, Asking
from heedful.workflows.serving import serving as served

for folder in (Path(__file__).parent, Path(__file__).parents[1] / "policies" / "remote"):
    sys.path.append(str(folder))  # the doubles; a worker process gets the same path
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


@pytest.fixture
def announcing() -> Iterator[Callable[..., str]]:
    """Return what serves one of the doubles, by its kind, with ``heedful serve``'s own server."""
    with ExitStack() as running:

        def start(kind: str) -> str:
            server = served(f"python:checking_doubles:make:{kind}", "openpi", port=0)
            threading.Thread(target=server.serve, daemon=True).start()
            running.callback(server.stop)
            return f"openpi://127.0.0.1:{server.port}"

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


def asked_here(ref: str) -> PolicyCheck:
    """Return what is found without a process for the policy: these do no harm, and it is quicker."""
    asking = Asking(ref, "tabletop", None)
    found = PolicyCheck(ref, "tabletop")
    for step in STEPS:
        said = asking(step)
        assert isinstance(said, PolicyCheck)
        found = said
        if found.error:
            break
    asking.close()
    return found


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
        ("device", "^RuntimeError: on another device$", ""),
        ("silent", "reset must return the instruction received, not NoneType", ""),
        ("leaves", "^SystemExit: no licence$", ""),
    ],
)
def test_a_policy_whose_contract_lies_is_found_out(kind: str, wrong: str, doubtful: str) -> None:
    found = asked_here(f"python:checking_doubles:Lying:{kind}")
    assert [bool(re.search(wrong, line)) for line in found.wrong] == [True] * bool(wrong)
    assert [doubtful in one.line for one in found.advice] == [True] * bool(doubtful)


@pytest.mark.parametrize(
    ("kind", "said", "compared", "shown"),
    [
        ("die in load", "ended the process that it ran in, at loading: .*exit code 3", False, False),
        ("die in reset", "ended the process that it ran in, at policy.reset: .*exit code 3", True, True),
        ("die in act", "ended the process that it ran in, at policy.act: .*exit code 3", True, True),
        (
            "hang in load",
            "^The policy hangs: killed after 1 s in loading policy python:.*[a-z].$",
            False,
            False,
        ),
        ("hang in reset", "^The policy hangs: killed after 1 s in policy.reset; --call-limit", True, True),
        ("hang in act", "^The policy hangs: killed after 1 s in policy.act; --call-limit", True, True),
    ],
)
def test_a_policy_that_hangs_or_dies_is_one_line_after_what_was_found(
    kind: str, said: str, compared: bool, shown: bool, tmp_path: Path
) -> None:
    limits = Limits(call_s=1, load_s=1) if kind == "hang in load" else Limits(call_s=1)
    found = check_policy(f"python:checking_doubles:Fatal:{kind}", pictures=tmp_path, limits=limits)
    assert found.wrong == [found.error] and re.search(said, found.error), found.error
    assert (bool(found.lines), bool(found.sent)) == (compared, shown)
    assert [path.name for path in tmp_path.iterdir()] == ["agent.png"] * shown


def test_a_policy_that_says_so_ignores_the_words() -> None:
    (line,) = [
        line for line in check_policy("python:checking_doubles:Wordless").lines if line.what == "instruction"
    ]
    assert (line.outcome, line.said) == ("look", "it never reads it")


def test_every_policy_has_pictures_of_its_own() -> None:
    refs = ["openpi://h:1", "openpi://h:1?flip=both", "reference:a/b", "python:m:f", "x" * 500, "x" * 501]
    folders = {pictures_folder(Path("seen"), ref) for ref in refs}
    assert len(folders) == len(refs) and {folder.parent for folder in folders} == {Path("seen")}
    assert max(len(folder.name) for folder in folders) < 100


def test_who_announces_is_not_told_options_that_the_reference_may_not_say(
    announcing: Callable[..., str],
) -> None:
    ref = announcing("words")
    found = check_policy(ref)
    assert found.wrong == []
    assert [(one.option, "may be the other one" in one.line) for one in found.advice] == [("", True)]
    wrong = check_policy(f"{ref}?preset=openpi-libero&flip=both").wrong
    assert wrong[0].startswith(
        f"This server announces its conventions: leave preset and changes out of the "
        f"reference: {ref} (it contradicts cameras, "
    )
    assert len(wrong) > 3 and "\n".join(wrong).count("leave preset") == 1
    assert not [line for line in wrong if "Mend:" in line or "Try" in line]


@pytest.mark.parametrize(
    ("said", "option"),
    [("binary_close_positive", ""), ("continuous_01", None), ("raw", "gripper=close_negative")],
)
def test_a_foreign_server_that_says_its_gripper_is_not_told_another(said: str, option: str | None) -> None:
    def handle(connection: ServerConnection) -> None:
        for message in connection:
            asked = unpack(message, "vla-eval")
            spec = {"action_spec": {"gripper": {"format": said}}}
            answer = spec if asked["type"] == "hello" else {"actions": UP[0] * [1, 1, 1, 1, 1, 1, -1]}
            kind = {"hello": "hello", "observation": "action"}.get(asked["type"])
            if kind is not None:
                reply = {"type": kind, "payload": answer, "seq": asked["seq"], "timestamp": 0.0}
                connection.send(pack(reply, "vla-eval"))

    with serve(handle, "127.0.0.1", 0, compression=None, max_size=None) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = asked_here(f"vla-eval://127.0.0.1:{server.socket.getsockname()[1]}")
        server.shutdown()
    if option is None:
        assert [line.what for line in found.lines if line.outcome == "wrong"] == ["spec gripper"]
    else:
        assert [one.option for one in found.advice if "closes the open gripper" in one.line] == [option]


def test_a_server_says_that_its_policy_ignores_the_words(announcing: Callable[..., str]) -> None:
    found = check_policy(announcing("wordless"))
    assert [line.what for line in found.lines if line.outcome == "look"] == ["instruction"]
    assert found.metadata["ignores_words"] == "True" and found.metadata["clients"] == "4"


def test_pictures_that_cannot_be_written_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="Cannot write"):
        check_policy("python:remote_doubles:make", pictures=tmp_path / "file")
