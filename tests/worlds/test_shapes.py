"""The catalog's measures agree with the bodies that are built, and the bodies behave."""

import colorsys
from itertools import combinations

import mujoco
import numpy as np
import pytest

from heedful.spec.errors import UserError
from heedful.suites.sizes import ORDER
from heedful.worlds.tabletop.catalog import (
    AREA,
    COLORS,
    REGIONS,
    SHAPES,
    SIZES,
    footprint_radius_m,
    rest_height_m,
    scale_of,
    shape_of,
)
from heedful.worlds.tabletop.shapes import add_object, colored_geoms

CASES = [(shape, scale) for shape in SHAPES for scale in (SIZES["smallest"], 1.0, SIZES["largest"])]
RED = COLORS["red"]


def on_a_table(shape: str, scale: float) -> tuple[mujoco.MjModel, mujoco.MjData, list[str]]:
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[1, 1, 0.02], pos=[0, 0, -0.02])
    colored = colored_geoms(add_object(spec, "thing", shape, scale, RED))
    model = spec.compile()
    data = mujoco.MjData(model)
    data.joint("thing:free").qpos[:] = (0, 0, rest_height_m(shape, scale), 1, 0, 0, 0)
    mujoco.mj_forward(model, data)
    return model, data, colored


def points_m(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Mesh vertices and box corners (spheres and cylinders: bounding corners) in the world."""
    found = []
    for g in range(1, model.ngeom):
        if model.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH:
            mesh = model.geom_dataid[g]
            start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
            local = model.mesh_vert[start : start + count]
        elif model.geom_type[g] == mujoco.mjtGeom.mjGEOM_BOX:
            local = model.geom_size[g] * np.stack(np.meshgrid(*[(-1, 1)] * 3), -1).reshape(-1, 3)
        else:
            continue
        found.append(local @ data.geom_xmat[g].reshape(3, 3).T + data.geom_xpos[g])
    return np.concatenate(found) if found else np.zeros((0, 3))


@pytest.mark.parametrize(("shape", "scale"), CASES)
def test_an_object_set_down_at_its_rest_height_stays_there(shape: str, scale: float) -> None:
    model, data, _ = on_a_table(shape, scale)
    mujoco.mj_step(model, data, 500)
    position, quaternion = data.joint("thing:free").qpos[:3], data.joint("thing:free").qpos[3:]
    assert np.abs(position - (0, 0, rest_height_m(shape, scale))).max() < 3e-4
    assert quaternion[0] > 0.99999
    assert data.ncon <= 8


@pytest.mark.parametrize(("shape", "scale"), CASES)
def test_nothing_of_an_object_reaches_beyond_its_measures(shape: str, scale: float) -> None:
    model, data, _ = on_a_table(shape, scale)
    corners = points_m(model, data)
    if shape == "sphere":
        radius = model.geom_size[1:, 0].max()
        assert radius <= footprint_radius_m(shape, scale) * 1.02
        return
    radius, height = np.hypot(*corners[:, :2].T).max(), rest_height_m(shape, scale)
    assert 0.97 * footprint_radius_m(shape, scale) <= radius <= 1.01 * footprint_radius_m(shape, scale)
    assert 0 <= corners[:, 2].min() + 1e-6 <= 0.0011  # the spikes of the star stand on a disc
    assert corners[:, 2].max() == pytest.approx(2 * height, rel=0.02)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_colored_geoms_carry_the_color_and_the_others_do_not(shape: str) -> None:
    model, _, colored = on_a_table(shape, 1.0)
    assert colored
    for g in range(1, model.ngeom):
        name = model.geom(g).name
        if name in colored:
            assert model.geom_rgba[g] == pytest.approx(RED)
            assert model.geom_group[g] == 0
        elif ":mark:" in name:
            assert model.geom_rgba[g][:3] != pytest.approx(RED[:3])


def test_a_pushed_sphere_comes_to_rest() -> None:
    model, data, _ = on_a_table("sphere", 1.0)
    data.joint("thing:free").qvel[:2] = (0.24, 0)
    mujoco.mj_step(model, data, 1000)
    assert np.abs(data.joint("thing:free").qvel).max() < 0.01
    assert data.joint("thing:free").qpos[0] < 0.06


def test_sizes_ascend_by_clear_steps_on_either_side_of_the_standard() -> None:
    scales = list(SIZES.values())
    assert all(b / a > 1.07 for a, b in zip(scales, scales[1:], strict=False))
    assert SIZES["small"] < scale_of(None) < SIZES["large"]


def test_regions_lie_in_the_table_and_standard_objects_in_two_of_them_never_touch() -> None:
    for a, b in combinations(REGIONS.values(), 2):
        gap = np.hypot(max(a[0] - b[1], b[0] - a[1], 0), max(a[2] - b[3], b[2] - a[3], 0))
        assert gap >= 0.08 - 1e-9
    x_lo, x_hi, y_lo, y_hi = AREA
    for box in REGIONS.values():
        assert x_lo - 0.02 <= box[0] < box[1] <= x_hi + 0.02
        assert y_lo <= box[2] < box[3] <= y_hi


def test_every_two_colors_differ_in_hue_or_in_brightness() -> None:
    hsv = {name: colorsys.rgb_to_hsv(*rgba[:3]) for name, rgba in COLORS.items()}
    for a, b in combinations(COLORS, 2):
        apart = abs(hsv[a][0] - hsv[b][0])
        assert min(apart, 1 - apart) > 0.06 or abs(hsv[a][2] - hsv[b][2]) > 0.4, (a, b)


def test_sizes_ascend_in_the_order_that_the_suite_reasons_by() -> None:
    assert tuple(sorted(SIZES, key=SIZES.__getitem__)) == ORDER
    assert SIZES["small"] < 1 < SIZES["large"]


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match="Did you mean 'sphere'"):
        shape_of("spere")
    with pytest.raises(UserError, match="Did you mean 'largest'"):
        scale_of("largets")
