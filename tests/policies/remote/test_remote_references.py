import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_servers import GOOD, answering

from heedful.policies.conventions.changes import changed, with_changes
from heedful.policies.conventions.presets import PRESETS
from heedful.policies.references import load
from heedful.policies.remote.announcement import Served, announcement, conventions_for
from heedful.policies.remote.connection import Address
from heedful.policies.remote.references import parse
from heedful.spec.contract import CameraContract, PolicyContract
from heedful.spec.errors import UserError

LIBERO = PRESETS["openpi-libero"].conventions
Start = Callable[..., int]


def test_a_reference_says_where_and_how() -> None:
    found = parse("openpi", "//robot:9000/pi?preset=openpi-libero&flip=both&reply_s=3&tls=true&max_mb=2")
    assert found.address == Address("openpi", "robot", 9000, "/pi", True, 30.0, 3.0, 2.0)
    assert (found.address.url, found.address.label) == ("wss://robot:9000/pi", "openpi://robot:9000")
    assert (found.said.preset, dict(found.said.changes)) == ("openpi-libero", {"flip": "both"})
    assert parse("openpi", "//robot").address.port == 8000
    assert parse("vla-eval", "//[::1]:5").address.url == "ws://[::1]:5"


def test_every_convention_can_be_said_in_a_reference() -> None:
    query = (
        "cameras=front:agent@96x128,hand:wrist&flip=vertical&state=pose:ee_position+ee_quaternion,grip:gripper_open"
        "&prompt=text&action=ee_absolute&rotation=axis_angle&scale_m=0.1&scale_rad=0.2&gripper=open_one"
        "&clip=true&gripper_binary=no&rate=10&chunk=8&replan=none"
    )
    found = changed(None, parse("openpi", f"//h?{query}").said.changes, "x")
    assert found.cameras == {
        "front": CameraContract("agent", 96, 128),
        "hand": CameraContract("wrist", 224, 224),
    }
    assert found.state == {"pose": ("ee_position", "ee_quaternion"), "grip": ("gripper_open",)}
    assert (found.prompt, found.action, found.rotation) == ("text", "ee_absolute", "axis_angle")
    assert (found.scale_m, found.scale_rad, found.control_hz) == (0.1, 0.2, 10.0)
    assert (found.gripper, found.gripper_binary, found.flip) == ("open_one", False, "vertical")
    assert (found.chunk, found.replan, found.clip) == (8, None, True)
    sized = changed(LIBERO, {"size": "96"}, "x")
    assert {(c.height_px, c.width_px) for c in sized.cameras.values()} == {(96, 96)}


def test_conventions_may_lie_in_a_yaml_file_and_the_reference_wins(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "preset: openpi-libero\nflip: both\ngripper: close_negative\nsize: 128\n"
        "state: {observation/state: [ee_position, ee_rpy]}\ncameras: {observation/image: agent}\n"
    )
    found = parse("openpi", f"//h?conventions={file}&gripper=open_one")
    assert found.said.preset == "openpi-libero"
    conventions = changed(LIBERO, found.said.changes, "x")
    assert (conventions.flip, conventions.gripper) == ("both", "open_one")
    assert conventions.state == {"observation/state": ("ee_position", "ee_rpy")}
    assert conventions.cameras == {"observation/image": CameraContract("agent", 128, 128)}


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("robot:8000", "names no server; write openpi://HOST:PORT"),
        ("//", "names no server"),
        ("//h:99999", "Port out of range"),
        ("//h?flp=both", "Unknown key of openpi:// 'flp'. Did you mean 'flip'"),
        ("//h?flip", "flip has no value"),
        ("//h?flip=upside", "Unknown flip convention 'upside'"),
        ("//h?action=ee_deltas", "Did you mean 'ee_delta'"),
        ("//h?rotation=quaternion", "Unknown rotation convention"),
        ("//h?gripper=close_positiv", "Did you mean 'close_positive'"),
        ("//h?state=s:ee_positon", "Did you mean 'ee_position'"),
        ("//h?state=ee_position", "state is 'ee_position'; it must be KEY:PART[+]PART"),
        ("//h?cameras=a:agent,b:agent", "camera 'agent' is sent under two keys"),
        ("//h?cameras=prompt:agent", "the key 'prompt' is empty or stands for two things"),
        ("//h?size=4", "a side below 8 or above 4096"),
        ("//h?size=big", "size is 'big'; it must be pixels"),
        ("//h?scale_m=0", "scale_m is 0; it must be above 0"),
        ("//h?rate=fast", "rate is 'fast'; it must be a number"),
        ("//h?chunk=1.5", "chunk is '1.5'; it must be a whole number or none"),
        ("//h?replan=0", "replan is 0; it must be at least 1"),
        ("//h?gripper_binary=maybe", "must be true or false"),
        ("//h?reply_s=-1", "reply_s is '-1'; it must be above 0"),
        ("//h?preset=libero", "Unknown preset 'libero'. Did you mean 'openpi-libero'"),
        ("//h?conventions=nowhere.yaml", "Cannot read conventions nowhere.yaml"),
    ],
)
def test_a_mistake_in_a_reference_is_one_line(rest: str, said: str) -> None:
    with pytest.raises(UserError, match=said.replace("?", "[?]")) as refused:
        changed(LIBERO, parse("openpi", rest).said.changes, "Policy openpi://h")
    assert "\n" not in str(refused.value)


def test_a_yaml_file_may_say_how_the_server_is_reached(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("connect_s: 5\nreply_s: 90\nmax_mb: 8\ntls: true\napi_key_env: KEY\nflip: both\n")
    found = parse("openpi", f"//h:1?conventions={file}&reply_s=70")
    assert found.address == Address("openpi", "h", 1, "", True, 5.0, 70.0, 8.0, "KEY")
    assert dict(found.said.changes) == {"flip": "both"}
    file.write_text("reply_s: soon\n")
    with pytest.raises(UserError, match="reply_s is 'soon'; it must be a number"):
        parse("openpi", f"//h:1?conventions={file}")
    file.write_text("reply: 90\n")
    with pytest.raises(UserError, match="Did you mean 'reply_s'"):
        parse("openpi", f"//h:1?conventions={file}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "a mapping of keys to values is needed"),
        ("flp: both", "Did you mean 'flip'"),
        ("a: [", "Cannot read conventions"),
        ("flip: 3", "flip is 3; it must be a text"),
    ],
)
def test_a_mistake_in_a_file_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(UserError, match=said):
        changed(LIBERO, parse("openpi", f"//h?conventions={file}").said.changes, "x")


def test_without_a_preset_everything_must_be_said() -> None:
    with pytest.raises(UserError, match="must say cameras, state, prompt, gripper, too"):
        changed(None, {"action": "ee_delta"}, "x")


def test_options_go_into_the_query_in_place_of_what_it_said() -> None:
    assert with_changes("openpi://h:1", {"flip": "both"}) == "openpi://h:1?flip=both"
    assert with_changes("openpi://h:1?a=b&flip=none", {"flip": "both"}) == "openpi://h:1?a=b&flip=both"
    with pytest.raises(UserError, match="has no conventions to change: flip can be said only of"):
        with_changes("planted:color", {"flip": "both"})


def test_who_announces_nothing_must_be_described(websocket_server: Start) -> None:
    port = websocket_server(answering({"actions": GOOD}))
    with pytest.raises(
        UserError, match="does not announce what it takes for granted.*[?]preset=openpi-droid"
    ):
        load(f"openpi://127.0.0.1:{port}")
    with pytest.raises(UserError, match="announces no conventions; name a preset"):
        load(f"openpi://127.0.0.1:{port}?preset=announced")
    policy = load(f"openpi://127.0.0.1:{port}?preset=openpi-droid")
    assert (policy.contract.action_mode, policy.contract.control_hz) == ("joint_absolute", 15.0)
    assert policy.contract.replan_steps == 8


def test_who_announces_needs_nothing_and_may_not_be_contradicted(websocket_server: Start) -> None:
    contract = PolicyContract((CameraContract("agent", 32, 48),), "ee_delta", 10.0, replan_steps=2)
    offer = announcement(conventions_for(contract, "openpi"), Served("x"))
    port = websocket_server(answering({"actions": GOOD}, metadata={"heedful": offer}))
    here = f"openpi://127.0.0.1:{port}"
    assert load(here).contract == contract
    assert load(f"{here}?replan=1").contract.replan_steps == 1
    said = f"This server announces its conventions: leave preset and changes out of the reference: {here}"
    for query, found in (
        ("flip=both", f"{said} (it contradicts flip)."),
        ("preset=openpi-libero&flip=both&reply_s=9&replan=1", f"{said}?reply_s=9&replan=1 (it contradicts "),
    ):
        with pytest.raises(UserError, match=re.escape(found)) as refused:
            load(f"{here}?{query}")
        assert "Contract(" not in str(refused.value)  # no value as Python writes it


@pytest.mark.parametrize(
    ("offer", "said"),
    [
        ({"version": 2}, "announces conventions of version '2'; 1 is known"),
        ("yes", "announces conventions of version 'yes'"),
        ({"version": 1, "conventions": {"flip": "none"}}, "cameras: is missing"),
    ],
)
def test_an_announcement_that_is_none_is_one_line(websocket_server: Start, offer: object, said: str) -> None:
    port = websocket_server(answering({"actions": GOOD}, metadata={"heedful": offer}))
    with pytest.raises(UserError, match=said):
        load(f"openpi://127.0.0.1:{port}")


def test_a_key_comes_from_the_environment(websocket_server: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []
    well = answering({"actions": GOOD})

    def handle(connection: object) -> None:
        seen.append(connection.request.headers.get("Authorization"))  # type: ignore[attr-defined]
        well(connection)

    port = websocket_server(handle)
    ref = f"openpi://127.0.0.1:{port}?preset=openpi-libero&api_key_env=MY_KEY"
    with pytest.raises(UserError, match="the environment variable MY_KEY holds no key"):
        load(ref)
    monkeypatch.setenv("MY_KEY", "secret")
    load(ref)
    assert seen == ["Api-Key secret"]
