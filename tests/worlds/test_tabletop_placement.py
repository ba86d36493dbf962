"""Where objects are put: apart, in their regions, still, and swapped when asked."""

from dataclasses import replace

import numpy as np
import pytest

from heedful.spec.errors import UserError
from heedful.spec.scene import ObjectSpec, SceneSpec
from heedful.worlds.tabletop import catalog, make
from heedful.worlds.tabletop.placement import sample_places
from heedful.worlds.tabletop.world import TabletopWorld

SHAPES = tuple(catalog.SHAPES)
COLORS = tuple(catalog.COLORS)


@pytest.fixture(scope="module")
def world() -> TabletopWorld:
    return make()


def test_five_large_objects_are_apart_inside_the_area_and_still(world: TabletopWorld) -> None:
    scene = SceneSpec(
        tuple(
            ObjectSpec(s, s, c, size)
            for s, c, size in zip(SHAPES[:5], COLORS, [*catalog.SIZES][:5], strict=False)
        )
    )
    radius = [catalog.footprint_radius_m(o.shape, catalog.scale_of(o.size)) for o in scene.objects]
    x_lo, x_hi, y_lo, y_hi = catalog.AREA
    for seed in range(15):
        state = world.reset(scene, seed, "joint_absolute")
        x, y, z = state.object_positions_m.T
        assert (x > x_lo - 0.003).all() and (x < x_hi + 0.003).all()
        assert (y > y_lo - 0.003).all() and (y < y_hi + 0.003).all()
        for i in range(5):
            rest = catalog.rest_height_m(scene.objects[i].shape, catalog.scale_of(scene.objects[i].size))
            assert z[i] == pytest.approx(rest, abs=0.001)
            for j in range(i):
                assert np.hypot(x[i] - x[j], y[i] - y[j]) > radius[i] + radius[j] + 0.01
        later = world.step(state.command[0])
        assert np.abs(later.object_positions_m - state.object_positions_m).max() < 2e-4


@pytest.mark.parametrize("size", [None, *catalog.SIZES])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_in_every_size_rests_at_its_height(
    world: TabletopWorld, shape: str, size: str | None
) -> None:
    state = world.reset(SceneSpec((ObjectSpec("a", shape, "red", size),)), 0, "joint_absolute")
    for _ in range(10):
        later = world.step(state.command[0])
    assert np.abs(later.object_positions_m - state.object_positions_m).max() < 5e-4
    assert later.object_positions_m[0, 2] == pytest.approx(
        catalog.rest_height_m(shape, catalog.scale_of(size)), abs=0.001
    )


@pytest.mark.parametrize("region", sorted(catalog.REGIONS))
def test_an_object_stands_in_its_region(world: TabletopWorld, region: str) -> None:
    scene = SceneSpec(
        (ObjectSpec("other", "cup", "blue", region=None), ObjectSpec("a", "car", "red", region=region))
    )
    x_lo, x_hi, y_lo, y_hi = catalog.REGIONS[region]
    for seed in range(5):
        x, y, _ = world.reset(scene, seed, "joint_absolute").object_positions_m[1]
        assert x_lo - 0.003 < x < x_hi + 0.003 and y_lo - 0.003 < y < y_hi + 0.003


def test_open_fingers_fit_beside_the_smallest_objects() -> None:
    scene = SceneSpec(tuple(ObjectSpec(s, s, "red", "smallest") for s in SHAPES))
    rng = np.random.default_rng(0)
    for _ in range(20):
        places = sample_places(scene, rng)
        for i, a in enumerate(places):
            for j, b in enumerate(places):
                if i != j:
                    edge = catalog.footprint_radius_m(SHAPES[j], catalog.SIZES["smallest"])
                    assert np.hypot(a.x_m - b.x_m, a.y_m - b.y_m) - edge > 0.055


def test_one_object_in_every_region_fits() -> None:
    scene = SceneSpec(tuple(ObjectSpec(r, "car", "red", "largest", r) for r in catalog.REGIONS))
    assert len(sample_places(scene, np.random.default_rng(0))) == 5


def test_a_swap_exchanges_the_two_places_and_nothing_else(world: TabletopWorld) -> None:
    objects = (
        ObjectSpec("a", "star", "red", "largest"),
        ObjectSpec("b", "cube", "blue", "smallest"),
        ObjectSpec("c", "sphere", "green"),
    )
    plain, swapped = SceneSpec(objects), SceneSpec(objects, swap=("a", "b"))
    for seed in range(10):
        before, after = (world.reset(s, seed, "joint_absolute").object_positions_m for s in (plain, swapped))
        assert np.allclose(before[[1, 0, 2], :2], after[:, :2], atol=0.002)


def test_yaw_stays_in_its_range() -> None:
    scene = SceneSpec((ObjectSpec("a", "cube", "red"),), yaw_range_rad=0.4)
    rng = np.random.default_rng(0)
    yaws = [sample_places(scene, rng)[0].yaw_rad for _ in range(200)]
    assert -0.4 <= min(yaws) < -0.3 and 0.3 < max(yaws) <= 0.4


def test_a_scene_that_cannot_be_placed_says_so(world: TabletopWorld) -> None:
    crowd = SceneSpec(tuple(ObjectSpec(f"o{i}", "car", "red", "largest", "middle") for i in range(3)))
    with pytest.raises(UserError, match="Cannot place 3 objects .*middle"):
        world.reset(crowd, 0, "joint_absolute")


A = ObjectSpec("a", "cube", "red")


@pytest.mark.parametrize(
    ("scene", "message"),
    [
        (SceneSpec((replace(A, shape="cubes"),)), "Unknown shape 'cubes'. Did you mean 'cube'"),
        (SceneSpec((replace(A, color="rad"),)), "Unknown color 'rad'. Did you mean 'red'"),
        (SceneSpec((replace(A, size="huge"),)), "Unknown size 'huge'"),
        (SceneSpec((replace(A, region="lft"),)), "Unknown region 'lft'. Did you mean 'left'"),
        (SceneSpec((A, A)), "more than once"),
        (SceneSpec((A,), swap=("a", "b")), "Unknown object to swap 'b'"),
        (SceneSpec((A,), swap=("a", "a")), "A swap names two objects"),
    ],
)
def test_a_scene_with_a_mistake_is_refused(world: TabletopWorld, scene: SceneSpec, message: str) -> None:
    with pytest.raises(UserError, match=message):
        world.reset(scene, 0, "joint_absolute")
