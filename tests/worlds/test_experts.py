"""The experts plan from states alone and do, in the world, what the verb says."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from heedful.spec.errors import UserError
from heedful.spec.keypose import PHASES
from heedful.spec.manipulation import VERBS, Manipulation, read
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.spec.state import State, Trajectory
from heedful.worlds.tabletop import make
from heedful.worlds.tabletop.catalog import SHAPES, SIZES
from heedful.worlds.tabletop.experts import approach_noise, cannot_do, plan_keyposes, script
from heedful.worlds.tabletop.world import TabletopWorld

GRIPPING = tuple(v for v in VERBS if v != "push")


@pytest.fixture(scope="module")
def world() -> TabletopWorld:
    return make()


def scene_of(shape: str, size: str | None = None, yaw_range_rad: float = np.pi) -> SceneSpec:
    return SceneSpec((ObjectSpec("target", shape, "red", size),), yaw_range_rad=yaw_range_rad)


def standing(x: float = 0.5, y: float = 0.0, yaw: float = 0.0) -> State:
    """A state with one object called ``target``, made by hand."""
    return State(
        time_s=0.0,
        joints_rad=np.zeros((1, 7)),
        ee_position_m=np.array([[0.4, 0.0, 0.34]]),
        ee_quaternion=np.array([[0.0, 1.0, 0.0, 0.0]]),
        gripper_m=np.array([0.08]),
        command=np.zeros((1, 8)),
        object_names=("target",),
        object_positions_m=np.array([[x, y, 0.02]]),
        object_quaternions=np.array([[np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]]),
        contacts=np.zeros((1, 1, 3), dtype=np.bool_),
    )


def demonstrate(world: TabletopWorld, scene: SceneSpec, verb: str, seed: int) -> Manipulation:
    states = [world.reset(scene, seed, "ee_absolute")]
    keyposes = plan_keyposes(states[0], scene, "target", verb, np.random.default_rng(seed))
    states += [world.step(action) for action in script(states[0], keyposes).actions]
    return read(Trajectory.stack(states))


def test_planning_needs_no_simulator() -> None:
    code = "import sys, heedful.worlds.tabletop.experts; sys.exit('mujoco' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("verb", VERBS)
def test_the_act_differs_from_the_close_by_exactly_what_the_verb_says(verb: str) -> None:
    keyposes = plan_keyposes(standing(), scene_of("cube"), "target", verb)
    assert len(keyposes) == len(PHASES)
    close, act = keyposes[-2:]
    moved = np.subtract(act.position_m, close.position_m)
    wanted = {"lift": (0, 0, 0.10), "pull": (-0.08, 0, 0), "slide": (0, 0.08, 0), "push": (0.095, 0, 0)}
    assert moved == pytest.approx(wanted.get(verb, (0, 0, 0)))
    assert act.yaw_rad - close.yaw_rad == pytest.approx(1.0 if verb == "rotate" else 0.0)
    assert act.gripper == close.gripper == 0.0
    assert {k.gripper for k in keyposes[:3]} == ({0.0} if verb == "push" else {1.0})


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("verb", VERBS)
def test_poses_that_look_the_same_to_the_gripper_have_the_same_plan(shape: str, verb: str) -> None:
    period = SHAPES[shape].yaw_period_rad
    plans = [
        plan_keyposes(standing(yaw=0.2 + k * period), scene_of(shape), "target", verb) for k in (-1, 0, 1)
    ]
    for plan in plans[1:]:
        for a, b in zip(plans[0], plan, strict=True):
            assert a.position_m == pytest.approx(b.position_m)
            assert a.yaw_rad == pytest.approx(b.yaw_rad)


def test_the_fingers_close_in_line_with_the_object_and_never_on_the_table() -> None:
    for shape in SHAPES:
        for size in SIZES:
            grasp = plan_keyposes(standing(yaw=0.3), scene_of(shape, size), "target", "grasp")[3]
            assert grasp.position_m[2] >= 0.017
            assert grasp.yaw_rad == pytest.approx(0.0 if shape == "sphere" else 0.3)


def test_only_the_approach_is_noisy_and_only_when_asked() -> None:
    state, scene = standing(), scene_of("cube")
    clean = plan_keyposes(state, scene, "target", "lift")
    assert clean == plan_keyposes(state, scene, "target", "lift")
    noisy = plan_keyposes(state, scene, "target", "lift", np.random.default_rng(0))
    assert noisy[0] != clean[0]
    assert noisy[1:] == clean[1:]
    rng = np.random.default_rng(1)
    drawn = [approach_noise(clean[0], rng) for _ in range(4000)]
    offset = np.array([k.position_m for k in drawn]) - clean[0].position_m
    turned = np.array([k.yaw_rad for k in drawn]) - clean[0].yaw_rad
    assert offset[:, :2].std(axis=0) == pytest.approx((0.015, 0.015), rel=0.05)
    assert turned.std() == pytest.approx(0.12, rel=0.05)
    assert -0.01 <= offset[:, 2].min() < -0.0095 and 0.0195 < offset[:, 2].max() <= 0.02
    assert {k.gripper for k in drawn} == {clean[0].gripper}


@pytest.mark.parametrize("verb", VERBS)
def test_commands_move_by_small_steps_from_where_the_tool_is(verb: str) -> None:
    state = standing(0.62, -0.2, 1.5)
    keyposes = plan_keyposes(state, scene_of("car"), "target", verb, np.random.default_rng(0))
    plan = script(state, keyposes)
    poses = np.concatenate([[[*state.ee_position_m[0], 0.0]], plan.actions[:, [0, 1, 2, 5]]])
    assert np.linalg.norm(np.diff(poses[:, :3], axis=0), axis=1).max() <= 0.03 + 1e-9
    assert np.abs(np.diff(poses[:, 3])).max() <= 0.2 + 1e-9
    for phase, keypose in enumerate(keyposes):
        last = plan.actions[plan.phases == phase][-1]
        assert last[:3] == pytest.approx(keypose.position_m)
        assert last[5] == pytest.approx(keypose.yaw_rad)
        assert last[6] == keypose.gripper


def test_an_object_wider_than_the_gripper_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(cannot_do(v, s, z) is None for v in VERBS for s in SHAPES for z in (None, *SIZES))
    wide = replace(SHAPES["cube"], grasp_width_m=0.06)
    monkeypatch.setitem(SHAPES, "cube", wide)  # type: ignore[arg-type]  # a Mapping to its readers
    width_mm = 60 * SIZES["largest"]
    assert cannot_do("lift", "cube", "largest") == f"{width_mm:.0f} mm wide, the gripper opens 80 mm"
    assert cannot_do("push", "cube", "largest") is None
    assert cannot_do("lift", "cube", None) is None


def test_an_unknown_verb_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match="Did you mean 'push'"):
        plan_keyposes(standing(), scene_of("cube"), "target", "pusch")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_does_what_it_says_to_each_shape(world: TabletopWorld, verb: str, shape: str) -> None:
    done = demonstrate(world, scene_of(shape), verb, seed=11)
    assert (done.object, done.verb) == ("target", verb)
    if verb == "lift":
        assert done.raised_m == pytest.approx(0.10, abs=0.01)
    if verb in ("pull", "slide"):
        assert done.moved_m == pytest.approx(0.08, abs=0.01)
    if verb == "push":
        assert 0.05 <= done.moved_m <= 0.11
    if verb == "rotate":
        assert done.turned_rad == pytest.approx(1.0, abs=0.15)
    if verb == "grasp":
        assert done.held and done.moved_m < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_succeeds_at_every_size(world: TabletopWorld, verb: str) -> None:
    cells = [(s, z, k) for s in SHAPES for z in (None, *SIZES) for k in range(4)]
    done = [demonstrate(world, scene_of(s, z), verb, seed=100 + k) for s, z, k in cells]
    assert sum(d.object == "target" and d.verb == verb for d in done) >= 0.95 * len(cells)


@pytest.mark.slow
def test_with_three_others_on_the_table_the_target_is_manipulated_first(world: TabletopWorld) -> None:
    first = []
    for k in range(120):
        rng = np.random.default_rng(k)
        names = ("target", "a", "b", "c")
        things = tuple(ObjectSpec(n, str(rng.choice(list(SHAPES))), "red") for n in names)
        scene = SceneSpec(things, yaw_range_rad=np.pi)
        first.append(demonstrate(world, scene, VERBS[k % len(VERBS)], seed=k).object)
    assert first.count("target") >= 118
