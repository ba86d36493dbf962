"""What the cameras show: where it should be, in the right color, and only when asked."""

import os
import subprocess
import sys

import numpy as np
import pytest

from heedful.spec.contract import CameraContract
from heedful.spec.errors import UserError
from heedful.spec.keypose import Keypose, chunk
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.spec.state import State
from heedful.worlds.tabletop import catalog, make
from heedful.worlds.tabletop.cameras import CALIBRATION, project
from heedful.worlds.tabletop.world import TabletopWorld

BOTH = (CameraContract("agent", 128, 128), CameraContract("wrist", 128, 128))
SHAPES = tuple(catalog.SHAPES)
COLORS = tuple(catalog.COLORS)


@pytest.fixture(scope="module")
def world() -> TabletopWorld:
    return make()


def tool_rotation(state: State) -> np.ndarray:
    w, x, y, z = state.ee_quaternion[0]
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def red_pixels(image: np.ndarray) -> np.ndarray:
    r, g, b = np.moveaxis(image.astype(int), -1, 0)
    return np.asarray((r > 60) & (r > 2.5 * g) & (r > 2.5 * b))


@pytest.mark.parametrize("camera", ["agent", "wrist"])
@pytest.mark.parametrize(("height", "width"), [(128, 128), (240, 320)])
def test_the_calibration_says_where_a_cube_appears(
    world: TabletopWorld, camera: str, height: int, width: int
) -> None:
    scene = SceneSpec((ObjectSpec("ball", "cube", "red", "smallest"),))
    for seed in range(4):
        state = world.reset(scene, seed, "ee_absolute")
        x, y, _ = state.object_positions_m[0]
        for action in chunk(state.ee_position_m[0], 0.0, Keypose((x - 0.05, y + 0.02, 0.25), 0.5, 1.0)):
            state = world.step(action)
        point = state.object_positions_m[0]
        if camera == "wrist":
            point = tool_rotation(state).T @ (point - state.ee_position_m[0])
        column, row = project(CALIBRATION[camera], point, height, width)
        images = world.observe((CameraContract(camera, height, width),)).images_hwc_u8
        assert images[camera].shape == (height, width, 3) and images[camera].dtype == np.uint8
        rows, columns = np.nonzero(red_pixels(images[camera]))
        assert len(rows) > 20
        assert columns.mean() + 0.5 == pytest.approx(column, abs=0.02 * height)
        assert rows.mean() + 0.5 == pytest.approx(row, abs=0.02 * height)


def test_words_of_direction_are_those_of_the_agent_picture() -> None:
    centre = np.array([0.49, 0.0, 0.0])
    at = {
        name: project(CALIBRATION["agent"], centre + np.array(offset), 96, 96)
        for name, offset in {
            "right": (0, 0.1, 0),
            "left": (0, -0.1, 0),
            "front": (0.1, 0, 0),
            "behind": (-0.1, 0, 0),
        }.items()
    }
    assert at["left"][0] < 48 < at["right"][0]
    assert at["behind"][1] < at["front"][1]  # front is lower in the picture, nearer the camera


def test_the_whole_area_is_in_both_pictures_at_the_start(world: TabletopWorld) -> None:
    state = world.reset(SceneSpec((ObjectSpec("a", "cube", "red"),)), 0, "ee_absolute")
    x_lo, x_hi, y_lo, y_hi = catalog.AREA
    corners = np.array([(x, y, 0.0) for x in (x_lo - 0.04, x_hi + 0.04) for y in (y_lo - 0.04, y_hi + 0.04)])
    seen = project(CALIBRATION["agent"], corners, 96, 96)
    assert (seen > 0).all() and (seen < 96).all()
    centre = project(
        CALIBRATION["wrist"],
        (np.array([0.49, 0.0, 0.02]) - state.ee_position_m[0]) @ tool_rotation(state),
        96,
        96,
    )
    assert (centre > 20).all() and (centre < 76).all()


@pytest.mark.parametrize("camera", ["agent", "wrist"])
def test_six_colors_are_told_apart_at_96_pixels(world: TabletopWorld, camera: str) -> None:
    request = (CameraContract(camera, 96, 96),)
    world.reset(SceneSpec(()), 0, "ee_absolute")
    background = world.observe(request).images_hwc_u8[camera].astype(int)

    def pixels(shape: str, color: str, seed: int) -> np.ndarray:
        world.reset(SceneSpec((ObjectSpec("a", shape, color, region="middle"),)), seed, "ee_absolute")
        image = world.observe(request).images_hwc_u8[camera].astype(int)
        changed = image[np.abs(image - background).sum(axis=-1) > 60]
        return np.asarray(changed / (changed.sum(axis=-1, keepdims=True) + 30))  # color, not brightness

    known = np.array([np.median(pixels("cube", color, 0), axis=0) for color in COLORS])
    gaps = np.linalg.norm(known[:, None] - known, axis=-1) + np.eye(len(COLORS))
    assert gaps.min() > 0.15
    for k, color in enumerate(COLORS):
        for seed, shape in enumerate(SHAPES):
            found = pixels(shape, color, seed)
            nearest = np.linalg.norm(found[:, None] - known, axis=-1).argmin(axis=1)
            counts = np.bincount(nearest, minlength=len(COLORS))
            if color != "black":  # wheels and the inside of the cup are dark on any color
                counts[COLORS.index("black")] = 0
            assert counts.argmax() == k, (shape, color, counts)
            assert counts[k] > 0.25 * len(found) and counts[k] > 12, (shape, color, counts)


def test_a_frame_from_a_recorded_state_is_the_frame_seen_live(world: TabletopWorld) -> None:
    scene = SceneSpec(tuple(ObjectSpec(s, s, c) for s, c in zip(SHAPES, COLORS, strict=True)))
    state = world.reset(scene, 2, "ee_absolute")
    x, y, z = state.object_positions_m[0]
    recorded, live = [state], [world.observe(BOTH)]
    at = state.ee_position_m[0]
    for z, gripper in ((0.1, 1.0), (0.02, 1.0), (0.02, 0.0), (0.12, 0.0)):
        for action in chunk(at, 0.0, Keypose((x, y, z), 0.0, gripper), 4):
            state = world.step(action)
            recorded.append(state)
            live.append(world.observe(BOTH))
        at = np.array([x, y, z])
    world.reset(SceneSpec((ObjectSpec("a", "cup", "red"),)), 0, "ee_absolute")
    world.observe(BOTH)
    for then, seen in zip(recorded, live, strict=True):
        world.show(scene, then)
        now = world.observe(BOTH)
        for camera in ("agent", "wrist"):
            assert np.array_equal(now.images_hwc_u8[camera], seen.images_hwc_u8[camera])
        assert np.allclose(now.proprioception, seen.proprioception, atol=1e-4)
    assert not np.array_equal(live[0].images_hwc_u8["agent"], live[-1].images_hwc_u8["agent"])
    with pytest.raises(RuntimeError, match="reset"):
        world.step(np.zeros(7))


def test_looking_changes_nothing_and_follows_the_scene_at_hand() -> None:
    blind, looking = make(), make(cached_models=2)
    a = SceneSpec((ObjectSpec("a", "cube", "red"), ObjectSpec("b", "cup", "blue")))
    b = SceneSpec((ObjectSpec("a", "star", "green"),))
    c = SceneSpec((ObjectSpec("a", "car", "green"),))
    expected = blind.reset(a, 0, "joint_absolute")
    first = looking.reset(a, 0, "joint_absolute")
    picture = looking.observe(BOTH).images_hwc_u8["agent"]
    for other in (b, c):  # the model of `a` is dropped from the cache and compiled again
        looking.reset(other, 0, "joint_absolute")
        assert not np.array_equal(looking.observe(BOTH).images_hwc_u8["agent"], picture)
    looking.reset(a, 0, "joint_absolute")
    assert np.array_equal(looking.observe(BOTH).images_hwc_u8["agent"], picture)
    assert looking.observe((CameraContract("agent", 300, 400),)).images_hwc_u8["agent"].shape == (300, 400, 3)
    assert np.array_equal(looking.observe(BOTH).images_hwc_u8["agent"], picture)  # after a larger one, too
    for _ in range(5):
        expected = blind.step(first.command[0])
        after = looking.step(first.command[0])
        looking.observe(BOTH)
    assert np.array_equal(expected.object_positions_m, after.object_positions_m)
    blind.close()
    looking.close()


def test_the_same_shapes_in_other_colors_share_a_model_but_not_a_picture(world: TabletopWorld) -> None:
    for color, expected in (("red", True), ("blue", False), ("red", True)):
        world.reset(SceneSpec((ObjectSpec("a", "cube", color),)), 0, "ee_absolute")
        assert red_pixels(world.observe(BOTH).images_hwc_u8["agent"]).any() == expected


def test_an_unknown_camera_is_refused(world: TabletopWorld) -> None:
    world.reset(SceneSpec((ObjectSpec("a", "cube", "red"),)), 0, "ee_absolute")
    with pytest.raises(UserError, match="Did you mean 'agent'"):
        world.observe((CameraContract("agents", 64, 64),))


NO_GL = """
import ctypes
from heedful.spec.errors import UserError
from heedful.spec.contract import CameraContract
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.worlds import tabletop
load = ctypes.CDLL
class Missing(load):
    def __init__(self, name=None, *args, **kwargs):
        if name and any(part in str(name) for part in ("EGL", "OSMesa", "libGL", "OpenGL")):
            raise OSError(f"{name}: cannot open shared object file")
        super().__init__(name, *args, **kwargs)
ctypes.CDLL = ctypes.cdll._dlltype = Missing
try:
    world = tabletop.make()
    state = world.reset(SceneSpec((ObjectSpec("a", "cube", "red"),)), 0, "joint_absolute")
    world.step(state.command[0])
    print("stepped")
    world.observe((CameraContract("agent", 64, 64),))
except UserError as error:
    print("UserError:", error)
"""


@pytest.mark.parametrize("backend", [None, "egl", "osmesa"])
@pytest.mark.skipif(sys.platform != "linux", reason="other systems bring their own OpenGL")
def test_without_opengl_a_world_steps_and_looking_names_the_packages(backend: str | None) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("MUJOCO_GL", "PYOPENGL_PLATFORM")}
    if backend:
        environment["MUJOCO_GL"] = backend
    done = subprocess.run(
        [sys.executable, "-c", NO_GL], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    if backend is None:
        assert lines[0] == "stepped"
    assert lines[-1].startswith("UserError: ") and "apt-get install" in lines[-1]
    for package in ("libegl1", "libgl1-mesa-dri", "libegl-mesa0"):
        assert package in lines[-1]


def test_making_a_world_is_the_first_import_of_mujoco() -> None:
    code = "import sys, heedful.worlds.tabletop as t; assert 'mujoco' not in sys.modules and t.make"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
